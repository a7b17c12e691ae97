"""The controller of process groups: their pods, claims and services, and how they are."""
