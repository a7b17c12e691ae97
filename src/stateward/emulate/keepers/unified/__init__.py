"""What fdb-kubernetes-monitor, the program of the unified image, is made of."""
