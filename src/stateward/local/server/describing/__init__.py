"""What is served here, told to clients that ask before they act."""
