"""How fast the etcd operator is, beside what etcd itself takes for the same steps."""
