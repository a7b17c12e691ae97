"""Objects as the lines of a table, as ``kubectl get`` prints them."""
