# shellcheck shell=bash disable=SC2154 # $dry_run, $quiet and $problem are deploy.sh's
# The commands of deploy.sh: shown before they run, checked before they change anything, explained when they fail.

step() { # TEXT
    [[ $quiet ]] || printf '\n# %s\n' "$*"
}

show() { # COMMAND…: prints it, quoted for a shell
    local word line=''
    [[ $quiet ]] && return
    for word in "$@"; do
        [[ $word =~ ^[A-Za-z0-9_./:=@,%+-]+$ || $word == '#' ]] || word=${word@Q}
        line+="$word "
    done
    printf '%s\n' "${line% }"
}

python_of_runtime() { # the functions' own Python where it is installed: its byte code saves compiling at every start
    local version=python${runtime:6:1}.${runtime:7}
    # A python that is found may be only a shim of pyenv.
    if "$version" -c '' 2>/dev/null; then echo "$version"; else echo python3; fi
}

stop() { # COMMAND…
    explain "deploy.sh stopped at: " "$@"
    exit 1
}

explain() { # TEXT COMMAND…: prints the failed command, the message in $problem and the remedy
    {
        printf '\n%s' "$1"
        shift
        quiet='' show "$@"
        [[ ${on_terminal:-} ]] || cat -- "$problem"
        printf '\nWhat to do: '
        python3 -m deploy advice -- "$@" <"$problem"
    } >&2
}

execute() { # COMMAND…: runs it; stops if it fails
    show "$@"
    [[ $dry_run ]] && return
    attempt "$@" || on_terminal=yes stop "$@"
    changes=$((changes + 1))
}

execute_patiently() { # COMMAND…: the same for commands that need APIs, accounts or roles that this run may just have made
    local tries=0
    show "$@"
    [[ $dry_run ]] && return
    until attempt "$@"; do
        once_more "$unknown_api|does not exist|permission|denied" || on_terminal=yes stop "$@"
    done
}

attempt() { # COMMAND…: runs it; its messages go to the terminal and into $problem
    { "$@" 2>&1 >&3 | tee -- "$problem" >&2; } 3>&1
}

bind() { # COMMAND…: a policy binding; an account that was just made may still be propagating. A refused one stops nothing else.
    local tries=0
    show "$@"
    [[ $dry_run ]] && return
    until "$@" >/dev/null 2>"$problem"; do
        fresh=yes once_more "$unknown_api|does not exist" && continue
        refused+=("$(quiet='' show "$@")")
        lacks=''
        explain "WARNING: this grant was refused, and the deployment goes on: " "$@"
        return 0
    done
    # The policy that `holds` has just read and found to lack this binding.
    [[ -z $lacks ]] || policies[$lacks]+=$'\n'$lacking
    lacks=''
    changes=$((changes + 1))
}

list() { # COMMAND…: sets $answer to its output; stops if it fails. Empty in a dry run.
    local tries=0
    answer=''
    [[ $dry_run ]] && show "$@" && return
    until answer=$("$@" 2>"$problem"); do
        once_more "$unknown_api" || stop "$@"
    done
}

exists() { # COMMAND…: true if the described resource exists; sets $answer to the output
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
fresh='' changes=0 refused=()
# shellcheck disable=SC2034 # deploy.sh fills and reports it
declare -A outcome=()
unknown_api='SERVICE_DISABLED|has not been used in project|API .*not enabled'

once_more() { # PATTERN: pauses and returns true if the message in $problem matches, up to five times
    [[ $fresh ]] && ((tries++ < 5)) && grep -qiE -- "$1" "$problem" || return
    [[ $quiet ]] || echo "# an API or account of this run is still propagating: once more in $((tries * 10)) s"
    pause $((tries * 10))
}

# The bindings that this run has read and made, by the command that prints the policy.
declare -A policies=()
lacks='' lacking=''

holds() { # MEMBER[,TITLE] ROLE COMMAND…: true if the policy that the command prints gives the role, under a condition of that
    # title; sets $answer to all its members
    local member=$1 role=$2 policy line
    shift 2
    policy=$* lacks=''
    if [[ -z ${policies[$policy]+read} ]]; then
        exists "$@" --flatten='bindings[].members' --format='csv[no-heading](bindings.role,bindings.members,bindings.condition.title)' ||
            [[ $dry_run ]] || return 1
        policies[$policy]=$answer
    fi
    answer=''
    while read -r line; do
        if [[ $line == "$role",* ]]; then line=${line#"$role",} answer+=${line%,}$'\n'; fi
    done <<<"${policies[$policy]}"
    answer=${answer%$'\n'}
    [[ $'\n'$answer$'\n' != *$'\n'"$member"$'\n'* ]] || return 0
    lacks=$policy lacking=$role,$member
    return 1
}

pause() { # SECONDS
    sleep "${DEPLOY_PAUSE_SECONDS:-$1}"
}
