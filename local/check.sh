#!/usr/bin/env bash
# Everything that can be checked without a server: `make check`. All of it is run; the first failure decides.
set -uo pipefail
cd -- "$(dirname -- "$0")/.." || exit
PATH="$PWD/.venv/bin:$PATH"
failed=()

check() { # NAME COMMAND…
    local name=$1
    shift
    echo "== $name"
    "$@" || failed+=("$name")
}

shellcheck_all() {
    git ls-files -z --cached --others --exclude-standard '*.sh' '*.bats' '*.bash' .ci/run | xargs -0 shellcheck
}

leaves_no_trace_of_a_machine() {
    # Written so that they do not find themselves.
    local patterns='(^|[^a-z0-9_.])/(wor[k]|roo[t]|far[m]|hom[e]/[a-z]+)/|[p]ypi\.org|[p]ythonhosted\.org|[r]egistry\.npmjs'
    if git grep --untracked -nIE "$patterns" -- . ':!LICENSE'; then
        echo "a path of one machine, or the address of a package registry, stands above"
        return 1
    fi
}

check format ruff format --check .
check lint ruff check .
check types mypy
check imports lint-imports
check docstrings python -m local.docstrings
check "shell scripts" shellcheck_all
check "Cloud Build" check-jsonschema --quiet --builtin-schema vendor.cloudbuild cloudbuild.yaml
check "links of the documentation" python -m local.docs.links
check "generated reference" python -m local.docs.reference --check
check "machine paths" leaves_no_trace_of_a_machine

if ((${#failed[@]})); then
    printf 'make check failed: %s\n' "$(IFS=,; echo "${failed[*]}")"
    exit 1
fi
echo "make check: all good"
