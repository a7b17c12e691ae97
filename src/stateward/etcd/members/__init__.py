"""How etcd itself is asked: one port, over its JSON gateway and over gRPC."""
