"""Backups of a simulated world: their files, who does the work, and the wire to their programs."""
