"""The command line: parse, ask, render. No decisions are made here."""
