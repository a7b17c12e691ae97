#!/bin/sh
# Renew the lock files: exact versions and hashes for every supported Python, no address of any index.
set -eu
python=${PYTHON:-python3.11}
[ -x .venv-lock/bin/uv ] || { "$python" -m venv .venv-lock && .venv-lock/bin/pip install --quiet uv; }
compile() {
    .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-annotate --no-header --upgrade "$@"
}
compile pyproject.toml --extra fdb --output-file requirements/runtime.txt
compile pyproject.toml --extra local --group dev --output-file requirements/dev.txt
echo "lock: wrote requirements/runtime.txt and requirements/dev.txt"
