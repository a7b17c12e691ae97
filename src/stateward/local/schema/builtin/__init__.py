"""What Kubernetes knows of its own kinds beyond their schemas: defaults, and what makes sense."""
