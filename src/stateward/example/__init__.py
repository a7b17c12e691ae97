"""The smallest operator that does everything right: teams of config maps.

It shows how an operator is built in this house (docs/writing-an-operator.md walks through it), it
is what the simulation exercises the runtime with, and it is not installed anywhere.
"""
