"""What a FoundationDB cluster of many process groups costs: made, at rest, and when a pod changes."""
