"""Judgement about process groups: what is wrong with them, and which come and go."""
