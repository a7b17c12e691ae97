"""The controller of FoundationDBRestore."""
