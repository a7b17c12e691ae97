"""What the processes of a pod are started with, in both layouts of images. Pure."""
