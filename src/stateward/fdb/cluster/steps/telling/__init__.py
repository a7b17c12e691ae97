"""Steps that look and tell: what is on record, who could not follow, who works in a zone."""
