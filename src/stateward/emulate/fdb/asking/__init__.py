"""Those who ask a database: who they are, from where they ask, and what they do not hear."""
