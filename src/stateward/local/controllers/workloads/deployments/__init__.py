"""Pods that are all alike, and how they are replaced: Deployments."""
