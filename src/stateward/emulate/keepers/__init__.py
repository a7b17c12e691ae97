"""Programs that keep fdbserver running, as FoundationDB's images have them; these are our own."""
