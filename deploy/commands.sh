# shellcheck shell=bash disable=SC2154 # $dry_run, $quiet and $problem are deploy.sh's
# How deploy.sh runs commands: shown before they run, looked up before they make something, explained when they fail.

step() { # TEXT
    [[ $quiet ]] || printf '\n# %s\n' "$*"
}

show() { # COMMAND…: as it can be typed
    local word line=''
    [[ $quiet ]] && return
    for word in "$@"; do
        [[ $word =~ ^[A-Za-z0-9_./:=@,%+-]+$ ]] || word=${word@Q}
        line+="$word "
    done
    printf '%s\n' "${line% }"
}

stop() { # COMMAND…: tells what failed with the message in $problem, and what to do, and ends
    {
        printf '\ndeploy.sh stopped at: '
        quiet='' show "$@"
        [[ ${on_terminal:-} ]] || cat -- "$problem"
        printf '\nWhat to do: '
        python3 -m deploy advice -- "$@" <"$problem"
    } >&2
    exit 1
}

run() { # COMMAND…: runs it, or stops
    show "$@"
    [[ $dry_run ]] || { "$@" 2>&1 >&3 | tee -- "$problem" >&2; } 3>&1 || on_terminal=yes stop "$@"
}

bind() { # COMMAND…: a policy binding; an account that was made a moment ago may not be known everywhere yet
    local try
    show "$@"
    [[ $dry_run ]] && return
    for try in 1 2 3 4 5; do
        "$@" >/dev/null 2>"$problem" && return
        grep -qi 'does not exist' -- "$problem" || break
        pause $((try * 3))
    done
    stop "$@"
}

list() { # COMMAND…: its output is in $answer, or it stops. In a dry run there is nothing.
    answer=''
    [[ $dry_run ]] && show "$@" && return
    answer=$("$@" 2>"$problem") || stop "$@"
}

look() { # COMMAND…: whether what it describes is there; its output is in $answer
    answer=''
    [[ $dry_run ]] && show "$@" && return 1
    answer=$("$@" 2>"$problem") && return
    grep -qiE 'not.?found|does not exist|cannot find' -- "$problem" || stop "$@"
    return 1
}

holds() { # MEMBER ROLE COMMAND…: whether the policy that the command prints gives the role; all who have it are in $answer
    local member=$1 role=$2
    shift 2
    look "$@" --flatten='bindings[].members' --format='csv[no-heading](bindings.role,bindings.members)' || return 1
    answer=$(sed -n "s|^$role,||p" <<<"$answer")
    grep -qxF -- "$member" <<<"$answer"
}

pause() { # SECONDS
    sleep "${DEPLOY_PAUSE_SECONDS:-$1}"
}
