"""How processes go over to TLS, and back."""
