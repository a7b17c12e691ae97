"""FoundationDBBackup and FoundationDBRestore: fields, rules, and what is wrong with them."""
