"""How we talk to FoundationDB: ports, its programs behind them, and what their answers mean."""
