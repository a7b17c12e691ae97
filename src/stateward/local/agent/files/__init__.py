"""What pods have on disk: their volumes, where they are mounted, and their logs."""
