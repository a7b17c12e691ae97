"""A Kubernetes small enough to embed: the store that everything else is served from."""
