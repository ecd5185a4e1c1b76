#!/usr/bin/env bats
# shellcheck disable=SC2154 # bats sets variables of its own
# deploy/smoke.sh against a server that answers as this file says.

setup() {
    load programs
    cd "$(project)" || return
    export SMOKE_RETRIES=0
    # By path: status, WWW-Authenticate, body.
    declare -gA answers=(
        [/.well-known/agent-card.json]='200 - {"protocolVersion": "0.3.0"}'
        [/health]='200 - ok'
        [/]='401 Bearer {}'
    )
}

serve() {
    local path file=$BATS_TEST_TMPDIR/answers port_file=$BATS_TEST_TMPDIR/port
    for path in "${!answers[@]}"; do echo "$path ${answers[$path]}"; done >"$file"
    mkfifo "$port_file"
    python3 "$BATS_TEST_DIRNAME/http_stub.py" "$file" >"$port_file" 3>&- &
    server=$!
    read -r port <"$port_file"
}

teardown() {
    [[ -z ${server:-} ]] || kill "$server"
}

@test "a hub that is as it should be" {
    serve
    run deploy/smoke.sh "http://127.0.0.1:$port/"
    [[ $status == 0 ]] || fail "$output"
    [[ $(grep -c '^ok ' <<<"$output") == 4 ]]
}

@test "a hub that lets everybody in fails, and two checks say so" {
    answers[/]='200 - {"result": {}}'
    serve
    run deploy/smoke.sh "http://127.0.0.1:$port"
    [[ $status == 1 ]]
    [[ $(grep -c '^FAILED .*nobody gets in' <<<"$output") == 2 ]]
}

@test "a refusal that does not say how to authenticate fails" {
    answers[/]='401 - {}'
    serve
    run deploy/smoke.sh "http://127.0.0.1:$port"
    [[ $status == 1 ]]
}

@test "a card that is none fails" {
    answers[/.well-known/agent-card.json]='200 - <html>'
    serve
    run deploy/smoke.sh "http://127.0.0.1:$port"
    [[ $status == 1 ]]
    says "FAILED  the agent card"
}

@test "a gateway whose functions are down fails" {
    answers[/health]='503 - upstream'
    serve
    run deploy/smoke.sh "http://127.0.0.1:$port"
    [[ $status == 1 ]]
    says "FAILED  the hub is in good health: got 503"
}

@test "what is no address is refused before anything is asked" {
    for address in "" hub.example.com --help; do
        run deploy/smoke.sh "$address"
        [[ $status == 2 ]] || fail "$address: $status"
        says "deploy/smoke.sh URL: "
    done
}
