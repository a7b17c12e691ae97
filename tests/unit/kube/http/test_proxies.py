"""Which proxy the environment asks for, and for whom it does not."""

from __future__ import annotations

import pytest

from stateward.kube.http import proxies


@pytest.mark.parametrize(
    ("server", "environment", "proxy"),
    [
        ("https://api", {}, ""),
        ("https://api", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api", {"https_proxy": "p:1"}, "http://p:1"),
        ("https://api", {"HTTP_PROXY": "http://p:1"}, ""),
        ("http://api", {"http_proxy": "http://p:1"}, "http://p:1"),
        ("https://localhost:6443", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://127.0.0.2:6443", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://[::1]:6443", {"HTTPS_PROXY": "http://p:1"}, ""),
    ],
)
def test_a_proxy_of_the_environment(server: str, environment: dict[str, str], proxy: str) -> None:
    assert proxies.from_environment(server, environment) == proxy


@pytest.mark.parametrize(
    ("server", "rules", "direct"),
    [
        ("https://10.96.0.1", "10.0.0.0/8", True),
        ("https://10.96.0.1", "x,10.96.0.1", True),
        ("https://10.96.0.1", "11.0.0.0/8, nonsense/9,10.96.0.10", False),
        ("https://10.96.0.1:6443", "10.96.0.1:6443", True),
        ("https://10.96.0.1:6443", "10.96.0.1:443", False),
        ("https://[fd00::1]:6443", "fd00::/8", True),
        ("https://[fd00::1]:6443", "fd00::1", True),
        ("https://[fd00::1]:6443", "[fd00::1]:6443", True),
        ("https://api.corp.example", "corp.example", True),
        ("https://api.corp.example", ".corp.example", True),
        ("https://api.corp.example", "*.Corp.example", True),
        ("https://corp.example", ".corp.example", False),
        ("https://corp.example", "corp.example:443", True),
        ("https://notcorp.example", "corp.example", False),
        ("https://api", "*", True),
        ("https://api", "", False),
    ],
)
def test_what_is_kept_off_the_proxy(server: str, rules: str, direct: bool) -> None:
    environment = {"HTTPS_PROXY": "http://p:1", "NO_PROXY": rules}

    assert (proxies.from_environment(server, environment) == "") is direct
