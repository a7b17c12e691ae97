"""Exploring: which plans of faults there are, living them, judging, shrinking and telling them."""
