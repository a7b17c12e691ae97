"""How the programs of the stand-in talk: messages, connections, TLS, and whom to ask."""
