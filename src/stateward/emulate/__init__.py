"""Stand-ins that answer as the real thing does, without a machine under them."""
