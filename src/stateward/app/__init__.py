"""The composition root: where real or embedded parts are plugged together."""
