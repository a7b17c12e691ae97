"""The EtcdCluster as users write it and read it."""
