"""Kubernetes objects as a cluster wants them. Pure."""
