"""Who is believed with TLS: whether two sides accept each other's certificates, and rules."""
