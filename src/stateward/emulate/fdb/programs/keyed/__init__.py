"""Keys of an emulated database: served over the wire, and the program that asks for them."""
