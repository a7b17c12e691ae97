"""Worlds in which the etcd operator runs, and what must be true in them."""
