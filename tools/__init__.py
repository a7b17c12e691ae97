"""Scripts for contributors; nothing here is part of the product."""
