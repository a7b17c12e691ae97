"""The laws of etcd clusters, judged by what really is, at the moment at which something is done."""
