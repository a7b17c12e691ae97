"""The judgement: which one move is safe and useful now. Pure."""
