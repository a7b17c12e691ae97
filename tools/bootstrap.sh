#!/bin/sh
# Make the virtual environment: find a Python, install exactly what the lock file names, then ourselves.
# Quick when nothing changed: make calls this only when pyproject.toml or the lock file is newer than the stamp.
set -eu
venv=$1
lock=$2

fail() { echo "setup: $1" >&2; exit 1; }

find_python() {
    for name in ${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3 python}; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
    done
    fail "Python 3.11 or newer is needed and ${PYTHON:-none of the usual names} is not one; name it: make PYTHON=/path/to/python3.11 demo"
}

python=$(find_python)
[ -n "$python" ] || exit 1
version() { "$1" -c 'import sys; print(sys.version)' 2>/dev/null; }
if [ "$(version "$venv/bin/python")" != "$(version "$python")" ]; then
    echo "setup: creating $venv with $("$python" --version)"
    rm -rf "$venv"
    # --without-pip: some distributions ship pip but not ensurepip; the outer pip can install into the venv.
    "$python" -m venv --without-pip "$venv" ||
        fail "could not create a virtual environment; on Debian and Ubuntu: apt install python3-venv"
fi
"$python" -m pip --version >/dev/null 2>&1 ||
    fail "pip is needed beside $python; try: $python -m ensurepip, or on Debian and Ubuntu: apt install python3-pip"

echo "setup: installing the locked packages of $lock"
install="$python -m pip --python $venv/bin/python install --quiet --disable-pip-version-check"
$install --require-hashes --requirement "$lock" || fail "could not install the packages; is a package index reachable?"
$install --no-deps --no-build-isolation --editable . || fail "could not install stateward itself"
touch "$venv/.installed"
echo "setup: ready"
