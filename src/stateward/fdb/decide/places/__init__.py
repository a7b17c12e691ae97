"""Where copies shall be, by data centers and halls, and whether there is anybody there."""
