"""What is asked of a whole life: nothing was lost, it came to rest, and nothing leaks."""
