"""What users do to FoundationDB clusters, as scripts."""
