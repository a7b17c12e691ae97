"""FoundationDB by its own client library, where there is one."""
