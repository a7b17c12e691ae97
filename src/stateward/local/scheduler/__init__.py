"""Which node a pod runs on."""
