"""A real Kubernetes of several nodes on one machine, from package registries alone, for tests."""
