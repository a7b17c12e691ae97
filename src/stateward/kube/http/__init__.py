"""The client port over HTTP: where the cluster is, who we are, and one exchange after another."""
