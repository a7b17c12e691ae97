"""A world in which operators of FoundationDB live: its pods run processes of the stand-in."""
