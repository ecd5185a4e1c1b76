# shellcheck shell=bash disable=SC2154,SC2034 # the names are those of deploy.sh and of its plan
# Functions deployed side by side, each by a process of its own, whose output is shown when it has ended.

failed=()
declare -A builder=() since=()

deploy_functions() { # FUNCTION…: those that fail are in $failed, and leave the revision before them serving
    local name count ended=0 at_once=4 folder begun='' together=()
    for name in "$@"; do
        # The first build of a project makes the repository that all of its builds push to.
        if [[ $dry_run || $# == 1 || ($fresh && " $begun " != *" ${project[$name]} "*) ]]; then
            deploy_function "$name"
            begun+=" ${project[$name]}"
        else
            if [[ ${publishes[$name]} ]]; then know_public_address; fi
            together+=("$name")
        fi
    done
    count=${#together[@]}
    ((count)) || return 0
    step "$count functions, $at_once at once: about $(minutes_of "${together[@]}") min"
    folder=$(mktemp -d)
    # Processes in the background ignore the terminal's interrupts.
    trap 'trap - TERM && kill 0' INT
    for name in "${together[@]}"; do
        deploy_apart "$name" >"$folder/$name.log" 2>&1 &
        builder["$name"]=$! since["$name"]=$SECONDS
        while ((${#builder[@]} >= at_once)); do await_builds; done
    done
    while ((${#builder[@]})); do await_builds; done
    trap - INT
    rm -r -- "$folder"
}

deploy_apart() { # FUNCTION: leaves its outcome and the grants that were refused in $folder, unless it fails
    local problem=$folder/$1.problem refused=()
    deploy_function "$1"
    printf '%s\n' "${refused[@]}" >"$folder/$1.refused"
    echo "${outcome[$1]}" >"$folder/$1.outcome"
}

await_builds() { # waits until one has ended, and reports those that have
    local name seconds grants
    wait -n || true
    for name in "${!builder[@]}"; do
        if kill -0 "${builder[$name]}" 2>/dev/null; then continue; fi
        unset "builder[$name]"
        seconds=$((SECONDS - since[$name])) ended=$((ended + 1))
        if [[ -e $folder/$name.outcome ]]; then
            outcome["$name"]=$(<"$folder/$name.outcome")
            mapfile -t grants < <(grep . "$folder/$name.refused")
            refused+=("${grants[@]}")
            [[ ${outcome[$name]} == unchanged ]] || echo "$seconds" >"build/$name.seconds"
            cat -- "$folder/$name.log"
        else
            outcome["$name"]=failed
            failed+=("$name")
            cat -- "$folder/$name.log" >&2
        fi
        step "$ended of $count: $name ${outcome[$name]} after $seconds s${builder[*]:+; still on ${!builder[*]}}"
    done
}

minutes_of() { # FUNCTION…: prints how long they take side by side, as they did the last time here
    local name seconds longest=0 sum=0
    for name in "$@"; do
        seconds=$(cat "build/$name.seconds" 2>/dev/null) || seconds=150
        sum=$((sum + seconds)) longest=$((seconds > longest ? seconds : longest))
    done
    echo $(((longest > sum / at_once ? longest : sum / at_once) / 60 + 1))
}
