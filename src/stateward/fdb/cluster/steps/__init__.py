"""The steps of a pass over a cluster, one file each, named as the design names them."""
