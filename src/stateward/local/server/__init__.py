"""The embedded Kubernetes over HTTP: for kubectl, and for everybody else who speaks its API."""
