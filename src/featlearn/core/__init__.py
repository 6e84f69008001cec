"""Rooms that every paper shares. Nothing in here knows a paper."""
