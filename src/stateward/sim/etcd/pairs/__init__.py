"""Pairs of specs: what a cluster becomes must not depend on what it was asked to be before.

schema.py   a schema as a list of properties
cases.py    what may be done to each of them, by its type
samples.py  what people really do to them
tables.py   what is refused, what cannot be taken back, what is inert, and why
bases.py    the clusters from which every pair sets out
stage.py    a world that can be branched: one settled cluster, many futures
ends.py     what a world has come to, without names of chance
steps.py    one edit: how it was answered, and how much it disturbed
pairs.py    two edits and a way back, and what must be true of them
midway.py   an edit in the middle of another one's work
trials.py   whether a property matters
running.py  all of it on several processors, counted
"""
