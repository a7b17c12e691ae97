"""Programs that only say something: stand-ins for those of a real Kubernetes, and for Go."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, script: str) -> Path:
    """Write a shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def saying(path: Path, text: str) -> Path:
    """Write a program that says a text, whatever it is asked."""
    return write(path, f"echo '{text}'")
