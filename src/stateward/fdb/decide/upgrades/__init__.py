"""Judgement about upgrades in which all processes change at once."""
