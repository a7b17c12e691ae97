"""What a configuration asks for, and whether that can be had now."""
