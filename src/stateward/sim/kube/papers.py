"""A certificate and its key for everybody in a simulated world, which protect nothing."""

from __future__ import annotations

import base64
from textwrap import fill
from typing import Final

#: A certificate for 100 years that signed itself, and its key. They protect nothing.
_SIGNED: Final = (
    "MIIBczCCARmgAwIBAgIUVSuAfGje7a5Q0YZ46k7V4sQq0wIwCgYIKoZIzj0EAwIwDjEMMAoGA1UEAwwDc2ltMCAXDTIw"
    "MDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAOMQwwCgYDVQQDDANzaW0wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC"
    "AAQ0CUb9BJnhQLine3aPqWeDdZr/vnHXHyDMoZxUPDvxmCRrOTKLP8QW1GUPyJa//kW0evmR/+tMnh6/6qLDcKOIo1Mw"
    "UTAdBgNVHQ4EFgQUyNWQwt+CUS33wudkEwCU20voEbQwHwYDVR0jBBgwFoAUyNWQwt+CUS33wudkEwCU20voEbQwDwYD"
    "VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBOjQR3x+chSv0QO2Psne/hYvcuPF4F9mMIM8oL0Ug0iAIhAPQW"
    "3PEj56e5mqDWNzzGGXtuze8yZpS+zo45NwDwIYi/"
)
_PRIVATE: Final = (
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrcNhbS0aMr73g3Z8cLU7NtkWfD/PpV1scQ47oYFFkdqh"
    "RANCAAQ0CUb9BJnhQLine3aPqWeDdZr/vnHXHyDMoZxUPDvxmCRrOTKLP8QW1GUPyJa//kW0evmR/+tMnh6/6qLDcKOI"
)
#: Another one for the same key, as one gets it when the first is about to end.
_SIGNED_ANEW: Final = (
    "MIIBHzCBxqADAgECAgECMAoGCCqGSM49BAMCMA4xDDAKBgNVBAMMA3NpbTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEw"
    "MTAwMDAwMFowDjEMMAoGA1UEAwwDc2ltMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAENAlG/QSZ4UC4p3t2j6lng3Wa"
    "/75x1x8gzKGcVDw78Zgkazkyiz/EFtRlD8iWv/5FtHr5kf/rTJ4ev+qiw3CjiKMTMBEwDwYDVR0TAQH/BAUwAwEB/zAK"
    "BggqhkjOPQQDAgNIADBFAiEA+RN2HKK1ziT6JU3t7Y/CNVvtGUEY1CBQp2ynkHajmBICICShFRa0Su6MmnKFsvfCeV+4"
    "CPavNZkyO3h9xo9lPIVe"
)


def _pem(label: str, der: str) -> str:
    return f"-----BEGIN {label}-----\n{fill(der, 64)}\n-----END {label}-----\n"


#: Both as PEM.
CERTIFICATE: Final = _pem("CERTIFICATE", _SIGNED)
KEY: Final = _pem("PRIVATE KEY", _PRIVATE)
RENEWED: Final = _pem("CERTIFICATE", _SIGNED_ANEW)


def encoded(text: str) -> str:
    """Return a text as a secret holds it."""
    return base64.b64encode(text.encode()).decode()
