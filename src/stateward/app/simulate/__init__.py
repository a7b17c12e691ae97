"""Campaigns of simulated lives over the processors of this machine."""
