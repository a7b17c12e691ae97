"""Planted bugs: a simulation that is green means something only if these turn it red.

Nothing of the product knows of them; they are put into a running process and taken out again.
"""
