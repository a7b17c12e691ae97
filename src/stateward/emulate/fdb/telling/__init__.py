"""What the stand-in says of itself: ``status json`` with the paths of the real one."""
