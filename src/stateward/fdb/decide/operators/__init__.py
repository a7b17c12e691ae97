"""Judgement about what operators of one database do together."""
