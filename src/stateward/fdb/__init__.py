"""The FoundationDB operator."""
