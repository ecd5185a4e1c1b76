# shellcheck shell=bash disable=SC2154 # bats sets variables of its own
# What the tests of shell scripts share.

project() { # its root folder
    (cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
}

program() { # NAME: a program whose text is on standard input
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    {
        echo '#!/usr/bin/env bash'
        cat
    } >"$BATS_TEST_TMPDIR/bin/$1"
    chmod +x "$BATS_TEST_TMPDIR/bin/$1"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

fail() { # TEXT
    echo "$*" >&2
    return 1
}

says() { # TEXT: the output of the last `run` holds it
    [[ $output == *"$1"* ]] || fail "no '$1' in: $output"
}
