"""Features emerge from the structure of the inputs"""
