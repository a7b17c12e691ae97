"""What people are told about a cluster, derived from one view and one report. Pure."""
