"""FoundationDBBackup and FoundationDBRestore: their fields, their rules, what is wrong with them."""
