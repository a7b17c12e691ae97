"""The laws of FoundationDB clusters, judged by what really is, at the moment of an act."""
