"""Rooms that every paper shares. Nothing in here knows a paper.

``run`` decides when and where a job runs, ``training`` how a network is trained, ``evidence`` how a
claim is judged, ``drawing`` how a figure looks, ``publishing`` how a finished run is shown.
"""
