#!/usr/bin/env bash
# Pins every requirements file: dev.txt first, and what is installed beside it to the same versions.
set -euo pipefail
cd -- "$(dirname -- "$0")/.."

pin() { # SOURCE TARGET [OPTION…]
    local source=$1 target=$2
    shift 2
    # The pins are PyPI's for every machine: no configuration, index or file of this one takes part.
    env -u UV_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_DEFAULT_INDEX -u UV_FIND_LINKS \
        .run/lock-venv/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 \
        --generate-hashes --no-emit-index-url --no-header --no-annotate "$@" "$source" --output-file "$target"
}

pin requirements/pip.in requirements/pip.txt "$@"
pin requirements/lock.in requirements/lock.txt "$@"
pin requirements/docs.in requirements/docs.txt "$@"
pin requirements/dev.in requirements/dev.txt "$@"
for source in requirements/{run,dictionary,gateway,hcs}.in functions/*/requirements.in; do
    pin "$source" "${source%.in}.txt" --constraints requirements/dev.txt
done
# Environments of their own: other people's programs that the hub is tested and measured against, and the worker that needs some.
for source in bench/*/requirements.in services/*/requirements.in tests/e2e/*/requirements.in workers/*/requirements.in; do
    pin "$source" "${source%.in}.txt" "$@"
done
