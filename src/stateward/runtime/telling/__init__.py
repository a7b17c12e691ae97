"""What an operator tells: logs, events, metrics, its decision journal, and whether it is well."""
