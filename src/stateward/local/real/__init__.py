"""A real Kubernetes on this machine: its programs are found, and started as processes."""
