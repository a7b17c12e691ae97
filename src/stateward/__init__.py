"""Stateward keeps distributed databases steady on Kubernetes."""

__version__ = "0.1.0"
