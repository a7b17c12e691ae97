"""The controller of clusters: decides what process groups are, and acts on the database."""
