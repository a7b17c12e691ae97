"""What the operator thinks in: addresses, connection strings, classes, configurations. Pure."""
