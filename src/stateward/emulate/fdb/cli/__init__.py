"""fdbcli, with the words and exit codes of the real one."""
