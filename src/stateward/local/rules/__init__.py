"""What a write may do to an object."""
