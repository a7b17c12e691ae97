"""What a person asks about objects of ours, read by nothing more than the right to view them."""
