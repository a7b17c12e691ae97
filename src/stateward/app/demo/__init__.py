"""The demonstration: an operator and real processes on an embedded Kubernetes, over HTTP."""
