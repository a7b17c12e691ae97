"""What comes again at certain moments."""
