"""The stand-in as programs with the command lines of the real ones, talking over loopback."""
