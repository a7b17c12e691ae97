"""The embedded Kubernetes over HTTP."""
