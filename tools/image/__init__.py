"""The image, made without a container daemon: Debian's Python, our locked packages, and ourselves."""
