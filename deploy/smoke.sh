#!/usr/bin/env bash
# Checks that a hub answers at URL, and that it rejects callers without a token: `deploy/smoke.sh URL`
set -euo pipefail
address=${1:-}
address=${address%/}
case $address in
    http://?* | https://?*) ;;
    *) echo "deploy/smoke.sh URL: the address of the hub, which ./deploy.sh --url prints" >&2 && exit 2 ;;
esac
failed=0

check() { # NAME WANTED CURL-OPTION…: the answer's status, WWW-Authenticate scheme and body match the pattern WANTED
    local name=$1 wanted=$2 answer
    shift 2
    # A new gateway may still be propagating.
    answer=$(curl --silent --show-error --max-time 30 --retry "${SMOKE_RETRIES:-8}" --retry-delay 5 --retry-all-errors \
        --write-out '\n%{http_code} %header{www-authenticate}' "$@") || true
    answer=$(tail -n 1 <<<"$answer")$'\n'$(sed '$d' <<<"$answer")
    if [[ $answer =~ $wanted ]]; then
        echo "ok      $name"
    else
        printf 'FAILED  %s: got %s\n' "$name" "$(head -c 300 <<<"$answer" | tr '\n' ' ')"
        failed=1
    fi
}

check "the agent card is there, for everybody" '^200 .*"protocolVersion"' "$address/.well-known/agent-card.json"
check "the hub is in good health" '^200 ' "$address/health"
check "without a token nobody gets in" '^401 Bearer' "$address/" --header 'Content-Type: application/json' \
    --data '{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}'
check "with a wrong token nobody gets in" '^401 Bearer' "$address/" --header 'Content-Type: application/json' \
    --header 'Authorization: Bearer not-a-token' --data '{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}'
exit "$failed"
