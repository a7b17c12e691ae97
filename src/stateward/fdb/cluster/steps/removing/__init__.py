"""Steps that take something away, at last."""
