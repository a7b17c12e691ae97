"""Small programs that stand for images: they are run by their path and import nothing of ours."""
