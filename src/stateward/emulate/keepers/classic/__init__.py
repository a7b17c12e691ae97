"""What fdbmonitor is made of."""
