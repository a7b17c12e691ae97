"""Reading protobuf: some commands of kubectl send nothing else. Nobody is answered in it."""
