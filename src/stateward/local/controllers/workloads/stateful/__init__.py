"""Pods with names that last: StatefulSets."""
