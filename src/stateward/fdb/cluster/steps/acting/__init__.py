"""Steps that act on the database."""
