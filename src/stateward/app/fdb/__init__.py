"""What the command line does about FoundationDB."""
