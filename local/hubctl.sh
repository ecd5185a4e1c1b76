#!/bin/sh
# Starts hubctl from the source tree that this environment stands in; `make` copies it to .venv/bin/hubctl.
root=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.." && pwd)
PYTHONPATH="$root:$root/shared${PYTHONPATH:+:$PYTHONPATH}" exec "$root/.venv/bin/python" -m hubctl "$@"
