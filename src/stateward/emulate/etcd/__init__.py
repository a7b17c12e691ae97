"""A stand-in for etcd: members, votes, logs and disks, without keys' bytes on any wire."""
