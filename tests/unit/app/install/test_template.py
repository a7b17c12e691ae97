"""Helm's templates, as far as our chart uses them: what each prints, beside how it is written."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.app.install import template
from stateward.app.install.functions import ChartFunctions
from stateward.core.errors import HouseError, UsageError

DOT: dict[str, Any] = {
    "name": "shop",
    "size": 3,
    "on": True,
    "off": False,
    "none": None,
    "empty": [],
    "items": ["a", "b"],
    "labels": {"y": "2", "x": "1"},
    "deep": {"er": {"est": "found"}},
}


def printed(source: str) -> str:
    defined: template.Defined = {}
    nodes = template.read(source, defined)
    return template.Renderer(ChartFunctions(defined)).text(nodes, DOT)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("as it is", "as it is"),
        ("{{ .name }}", "shop"),
        ("{{ .size }} {{ .on }} {{ .off }} [{{ .none }}]", "3 true false []"),
        ("{{ .deep.er.est }} [{{ .deep.no.such }}]", "found []"),
        ('{{ "a \\"b\\"" }} {{ `c "d"` }} {{ 7 }} {{ true }}', 'a "b" c "d" 7 true'),
        # A dash eats space and lines, a comment prints nothing.
        ("a \n {{- .name }} b", "ashop b"),
        ("a {{ .name -}} \n b", "a shopb"),
        ("a{{/* not\nthis */}}b", "ab"),
        ("a\n{{- /* nor this */ -}}\nb", "ab"),
        # Conditions.
        ("{{ if .on }}yes{{ end }}", "yes"),
        ("{{ if .off }}yes{{ else }}no{{ end }}", "no"),
        ("{{ if .off }}1{{ else if .none }}2{{ else if .on }}3{{ else }}4{{ end }}", "3"),
        ("{{ if .empty }}yes{{ else }}no{{ end }}", "no"),
        ("{{ if and .on (gt .size 2) }}yes{{ end }}", "yes"),
        ("{{ if and .on .none }}yes{{ else }}no{{ end }}", "no"),
        ("{{ if not .off }}yes{{ end }}", "yes"),
        # Other dots.
        ("{{ with .deep.er }}{{ .est }}{{ end }}", "found"),
        ("{{ with .none }}{{ . }}{{ else }}nothing{{ end }}", "nothing"),
        ("{{ range .items }}<{{ . }}>{{ end }}", "<a><b>"),
        ("{{ range .empty }}<{{ . }}>{{ else }}none{{ end }}", "none"),
        ("{{ range .items }}{{ $.name }}-{{ . }} {{ end }}", "shop-a shop-b "),
        ("{{ range $key, $value := .labels }}{{ $key }}={{ $value }} {{ end }}", "x=1 y=2 "),
        ("{{ range $it := .items }}{{ $it }}{{ end }}", "ab"),
        # Names.
        ("{{ $n := .name }}{{ range .items }}{{ $n }}{{ . }} {{ end }}", "shopa shopb "),
        ("{{ $n := 1 }}{{ $n = 2 }}{{ $n }}", "2"),
        ('{{ define "it" }}<{{ .est }}>{{ end }}{{ include "it" .deep.er }}', "<found>"),
        # Pipes give what came before as the last argument.
        ("{{ .name | quote }}", '"shop"'),
        ('{{ .none | default "usual" }}', "usual"),
        ('{{ default "usual" .name | quote }}', '"shop"'),
        ('{{ printf "%s:%d" .name .size }}', "shop:3"),
        ('{{ join "," (default (list "z") .empty) }}', "z"),
        ('{{ ternary "a" "b" .off }}', "b"),
        ("{{ index .items 1 }}{{ index .labels `x` }}", "b1"),
        ("at:\n  {{- toYaml .labels | nindent 2 }}", "at:\n  x: '1'\n  y: '2'"),
    ],
)
def test_what_a_template_prints(source: str, text: str) -> None:
    assert printed(source) == text


@pytest.mark.parametrize(
    "source",
    [
        "{{ if .on }}",
        "{{ end }}",
        "{{ else }}",
        "{{ (.on }}",
        "{{ .on | }}",
        "{{ nonsense .on }}",
        "{{ .on ! }}",
        '{{ define "x" }}{{ else }}{{ end }}',
        "{{ .on .off }}",
    ],
)
def test_what_is_no_template_is_our_own_bug(source: str) -> None:
    with pytest.raises(HouseError):
        printed(source)


def test_a_template_may_refuse() -> None:
    with pytest.raises(UsageError, match="choose one"):
        printed('{{ fail "choose one" }}')
