"""Who owns which field, and what server-side apply makes of it."""
