"""Obtains the real programs that our tests ask, once per machine: ``make real``."""
