"""Steps that decide what there shall be, and wait for those who make it."""
