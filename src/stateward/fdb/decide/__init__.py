"""Judgement: what is wanted and what is allowed now; pure, values in and values out."""
