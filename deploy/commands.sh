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

python_of_runtime() { # the functions' own Python, whose byte code spares them compiling at every start, where it is installed
    local version=python${runtime:6:1}.${runtime:7}
    # Of some that are found, only a stand-in of pyenv is there.
    if "$version" -c '' 2>/dev/null; then echo "$version"; else echo python3; fi
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

execute() { # COMMAND…: runs it, or stops
    show "$@"
    [[ $dry_run ]] && return
    attempt "$@" || on_terminal=yes stop "$@"
    changes=$((changes + 1))
}

execute_patiently() { # COMMAND…: the same for what leans on APIs, accounts and roles that this run has perhaps just made
    local tries=0
    show "$@"
    [[ $dry_run ]] && return
    until attempt "$@"; do
        once_more "$unknown_api|does not exist|permission|denied" || on_terminal=yes stop "$@"
    done
}

attempt() { # COMMAND…: its messages go to the terminal, and into $problem
    { "$@" 2>&1 >&3 | tee -- "$problem" >&2; } 3>&1
}

bind() { # COMMAND…: a policy binding; an account that was just made may still be propagating
    local tries=0
    show "$@"
    [[ $dry_run ]] && return
    until "$@" >/dev/null 2>"$problem"; do
        fresh=yes once_more "$unknown_api|does not exist" || stop "$@"
    done
    changes=$((changes + 1))
}

list() { # COMMAND…: its output is in $answer, or it stops. In a dry run there is nothing.
    local tries=0
    answer=''
    [[ $dry_run ]] && show "$@" && return
    until answer=$("$@" 2>"$problem"); do
        once_more "$unknown_api" || stop "$@"
    done
}

exists() { # COMMAND…: whether what it describes is there; its output is in $answer
    local tries=0
    answer=''
    [[ $dry_run ]] && show "$@" && return 1
    until answer=$("$@" 2>"$problem"); do
        once_more "$unknown_api" && continue
        grep -qiE 'not.?found|does not exist|cannot find' -- "$problem" || stop "$@"
        return 1
    done
}

# $fresh is set once this run has enabled an API, made an account or given a role, which takes minutes to propagate.
fresh='' changes=0
unknown_api='SERVICE_DISABLED|has not been used in project|API .*not enabled'

once_more() { # PATTERN: after a pause, where the message in $problem may only mean that; false when it does not, or it is too much
    [[ $fresh ]] && ((tries++ < 5)) && grep -qiE -- "$1" "$problem" || return
    [[ $quiet ]] || echo "# an API or account of this run is still propagating: once more in $((tries * 10)) s"
    pause $((tries * 10))
}

holds() { # MEMBER ROLE COMMAND…: whether the policy that the command prints gives the role; all who have it are in $answer
    local member=$1 role=$2
    shift 2
    exists "$@" --flatten='bindings[].members' --format='csv[no-heading](bindings.role,bindings.members)' || return 1
    answer=$(sed -n "s|^$role,||p" <<<"$answer")
    grep -qxF -- "$member" <<<"$answer"
}

pause() { # SECONDS
    sleep "${DEPLOY_PAUSE_SECONDS:-$1}"
}
