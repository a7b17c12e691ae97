"""Kubernetes as data and as a wire: typed objects, patches, selectors, schemas, and the client."""
