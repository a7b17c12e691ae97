"""Bugs of operators of FoundationDB, told again in our code."""
