"""The demonstration: real etcd, kept by our operator, on an embedded Kubernetes, over HTTP."""
