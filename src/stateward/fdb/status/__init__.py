"""What a database says of itself: one reader of ``status json``, and questions to it. Pure."""
