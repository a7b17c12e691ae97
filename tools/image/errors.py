"""What keeps an image from being made, in one sentence."""

from __future__ import annotations


class ImageImpossible(Exception):
    """Something is missing on this machine; the message says what to do about it."""
