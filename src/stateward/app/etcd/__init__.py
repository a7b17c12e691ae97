"""Real etcd on local clusters: which ones this machine has, how they run, where members listen."""
