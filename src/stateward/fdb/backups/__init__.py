"""The controllers of FoundationDBBackup and FoundationDBRestore."""
