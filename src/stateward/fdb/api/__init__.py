"""The FoundationDBCluster and its process groups as users write them and read them. Pure."""
