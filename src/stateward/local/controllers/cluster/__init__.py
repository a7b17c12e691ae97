"""Controllers of volumes, endpoints, budgets, namespaces and nodes."""
