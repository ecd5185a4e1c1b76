#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # programs' texts are quoted; each test is a process; bats sets variables of its own
# How deploy.sh runs commands (deploy/commands.sh).

bats_require_minimum_version 1.5.0

setup() {
    load programs
    cd "$(project)" || return
    dry_run='' quiet='' problem=$BATS_TEST_TMPDIR/problem
    PYTHONPATH=$(project)/shared
    export PYTHONPATH DEPLOY_PAUSE_SECONDS=0 COUNT=$BATS_TEST_TMPDIR/count
    set -o pipefail
    source deploy/commands.sh
}

fails_first() { # TIMES MESSAGE: the program `command_of_the_test`
    program command_of_the_test <<TEXT
echo x >>"\$COUNT"
((\$(wc -l <"\$COUNT") > $1)) && echo done && exit
echo ${2@Q} >&2
exit 1
TEXT
}

@test "what is shown can be typed again, whatever is in it" {
    words=(gcloud --format='csv[no-heading](a,b)' "it's" '' 'a b' "\$HOME" '--data={"a": 1}')
    typed=()
    eval "typed+=($(show "${words[@]}"))"
    [[ ${#typed[@]} == "${#words[@]}" ]]
    for index in "${!words[@]}"; do [[ ${typed[index]} == "${words[index]}" ]]; done
}

@test "a dry run shows a command and does not run it" {
    dry_run=yes
    program command_of_the_test <<<'touch "$COUNT"'
    for how in execute execute_patiently bind list; do
        run "$how" command_of_the_test --flag
        [[ $status == 0 && $output == "command_of_the_test --flag" ]] || fail "$how: $output"
    done
    run exists command_of_the_test
    [[ $status == 1 ]]
    [[ ! -e $COUNT ]]
}

@test "a command that fails ends everything, with its message and with what to do" {
    fails_first 9 "Permission 'run.services.create' denied"
    run execute command_of_the_test --project=my-project
    [[ $status == 1 ]]
    says "deploy.sh stopped at: command_of_the_test --project=my-project"
    says "Permission 'run.services.create' denied"
    says "What to do: "
    says "roles/run.sourceDeveloper"
    [[ $(wc -l <"$COUNT") == 1 ]]
}

@test "what a command prints goes where it would without deploy.sh" {
    program command_of_the_test <<<'echo out; echo error >&2'
    execute command_of_the_test >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
    [[ $(<"$BATS_TEST_TMPDIR/out") == $'command_of_the_test\nout' ]]
    [[ $(<"$BATS_TEST_TMPDIR/err") == error ]]
}

@test "a grant waits for an account that is still propagating" {
    fails_first 3 "Service account a@b.iam.gserviceaccount.com does not exist."
    run bind command_of_the_test
    [[ $status == 0 && $(wc -l <"$COUNT") == 4 ]]
}

@test "a grant does not wait for ever" {
    fails_first 99 "Service account a@b.iam.gserviceaccount.com does not exist."
    run bind command_of_the_test
    [[ $status == 0 && $(wc -l <"$COUNT") == 6 ]]
    says "Wait a minute"
}

@test "a grant that is refused is not tried again, told, and stops nothing" {
    fails_first 3 "Permission 'run.services.setIamPolicy' denied"
    bind command_of_the_test --flag 2>"$BATS_TEST_TMPDIR/err"
    [[ $(wc -l <"$COUNT") == 1 && ${refused[*]} == "command_of_the_test --flag" ]]
    [[ $(<"$BATS_TEST_TMPDIR/err") == *"WARNING: this grant was refused"*"roles/run.admin"* ]]
}

@test "a role under a condition is another one than the same without it" {
    program command_of_the_test <<<"echo 'roles/a,serviceAccount:x,db'"
    holds serviceAccount:x,db roles/a command_of_the_test
    run ! holds serviceAccount:x roles/a command_of_the_test
}

@test "an API that this run enabled is waited for, one that nobody enabled is not" {
    fails_first 2 "reason: SERVICE_DISABLED"
    fresh=yes
    run list command_of_the_test
    [[ $status == 0 && $(wc -l <"$COUNT") == 3 ]]
    rm -- "$COUNT"
    fresh=''
    run list command_of_the_test
    [[ $status == 1 && $(wc -l <"$COUNT") == 1 ]]
}

@test "a deployment waits for roles that this run gave, and for none that were there before" {
    fails_first 1 "Permission 'iam.serviceaccounts.actAs' denied"
    fresh=yes
    run execute_patiently command_of_the_test
    [[ $status == 0 && $(wc -l <"$COUNT") == 2 ]]
    rm -- "$COUNT"
    fresh=''
    run execute_patiently command_of_the_test
    [[ $status == 1 && $(wc -l <"$COUNT") == 1 ]]
}

@test "only a plain no means that something is not there" {
    fails_first 9 "NOT_FOUND: Resource 'x' was not found"
    run exists command_of_the_test
    [[ $status == 1 && -z $output ]]
    fails_first 9 "Permission 'secretmanager.versions.list' denied on resource"
    run exists command_of_the_test
    [[ $status == 1 ]]
    says "deploy.sh stopped at"
}

@test "a member holds a role only by its whole name, in that role" {
    program command_of_the_test <<'TEXT'
echo 'roles/run.invoker,serviceAccount:a2a-hub@p.iam.gserviceaccount.com'
echo 'roles/viewer,serviceAccount:other@p.iam.gserviceaccount.com'
TEXT
    holds serviceAccount:a2a-hub@p.iam.gserviceaccount.com roles/run.invoker command_of_the_test
    [[ $answer == serviceAccount:a2a-hub@p.iam.gserviceaccount.com ]]
    run ! holds hub@p.iam.gserviceaccount.com roles/run.invoker command_of_the_test
    run ! holds serviceAccount:a2a-hub@pxiam.gserviceaccount.com roles/run.invoker command_of_the_test
    run ! holds serviceAccount:other@p.iam.gserviceaccount.com roles/run.invoker command_of_the_test
}

@test "a policy is read once, and known to have what this run has granted" {
    program command_of_the_test <<'TEXT'
echo x >>"$COUNT"
echo 'roles/run.invoker,user:a,'
TEXT
    holds user:a roles/run.invoker command_of_the_test
    [[ $answer == user:a ]]
    holds user:b roles/run.invoker command_of_the_test && fail "it holds none"
    bind true --member=user:b
    bind true --member=of-another-policy
    holds user:b roles/run.invoker command_of_the_test
    [[ $answer == $'user:a\nuser:b' ]]
    holds user:c roles/run.invoker command_of_the_test && fail "it holds none"
    program refused_grant <<<'exit 1'
    bind refused_grant 2>/dev/null
    holds user:c roles/run.invoker command_of_the_test && fail "it holds none"
    [[ $(wc -l <"$COUNT") == 1 ]]
}
