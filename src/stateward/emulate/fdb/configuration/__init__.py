"""What a database is configured as: words, settings, what is refused, regions. Pure."""
