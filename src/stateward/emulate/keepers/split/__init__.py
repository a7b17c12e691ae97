"""What the sidecar of the split images is made of."""
