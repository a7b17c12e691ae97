"""Steps that decide which process groups shall go."""
