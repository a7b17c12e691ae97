"""Write what users install: the generated parts of the chart, and one plain manifest of it."""

from __future__ import annotations

from pathlib import Path

from stateward.app.install import generated

DEPLOY = Path(__file__).parents[1] / "deploy"
PLAIN = DEPLOY / "stateward.yaml"


def main() -> None:
    """Write everything."""
    for name, text in generated.files().items():
        (DEPLOY / "chart" / name).write_text(text, encoding="utf-8")
    PLAIN.write_text(generated.manifest(), encoding="utf-8")
    print(f"manifests: wrote the chart and {PLAIN.relative_to(DEPLOY.parent)}")


if __name__ == "__main__":
    main()
