#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # programs' texts are quoted; each test is a process; bats sets variables of its own
# deploy.sh from the command line. gcloud is a program that must not be run.

setup_file() { # a copy, since a dry run writes below build/
    load programs
    local part
    mkdir "$BATS_FILE_TMPDIR/tree"
    for part in deploy deploy.sh deploy.example.toml firestore.indexes.json gateway routes.toml shared; do
        cp -r "$(project)/$part" "$BATS_FILE_TMPDIR/tree/"
    done
}

shown() { # the output of a dry run without other options, which several tests look at
    local file=$BATS_FILE_TMPDIR/shown
    [[ -e $file ]] || ./deploy.sh --config deploy.example.toml --dry-run >"$file" 2>&1 || fail "$(<"$file")"
    output=$(<"$file")
}

setup() {
    load programs
    cd "$BATS_FILE_TMPDIR/tree" || return
    export CALLED=$BATS_TEST_TMPDIR/called
    program gcloud <<<'echo "$*" >>"$CALLED"; exit 1'
    config=$BATS_TEST_TMPDIR/deploy.toml
    cp deploy.example.toml "$config"
}

teardown() {
    [[ ! -e $CALLED ]] || fail "gcloud was run: $(<"$CALLED")"
}

deploy() { # OPTION…
    run ./deploy.sh --config "$config" "$@"
}

count() { # OPTION…: how many functions such a deployment has
    local functions=()
    eval "$(PYTHONPATH=shared python3 -m deploy --config "$config" "$@" plan | sed -n 's/^declare -ga functions=/functions=/p')"
    echo "${#functions[@]}"
}

commands() { # the commands in the output of the last `run`
    grep -E '^(gcloud|curl|python3) ' <<<"$output"
}

@test "a dry run shows every command and runs none" {
    shown
    for made in "services enable" "service-accounts create" "secrets create" "api-configs create" "run deploy" \
        "operations wait" "projects add-iam-policy-binding" "secrets add-iam-policy-binding" "run services add-iam-policy-binding"; do
        [[ $(commands) == *"gcloud "*"$made"* ]] || fail "no $made"
    done
    [[ $(count) -ge 7 && $(commands | grep -c "gcloud run deploy ") == "$(count)" ]]
}

@test "a dry run shows the variables of each function, and no secret among them" {
    shown
    says '"HUB_PUBLIC_URL": "https://GATEWAY_ADDRESS"'
    says '"CALLER_TOKEN_HEADER": "x-forwarded-authorization"'
    [[ $output != *'"SIGNING_KEY"'* ]]
}

@test "--direct has no gateway, no gate and no card function" {
    deploy --dry-run --direct
    [[ $status == 0 ]]
    [[ $(commands) != *api-gateway* && $(commands) != *a2a-gate* && $(commands) != *a2a-agent-card* ]]
    says "service-210987654321@gcp-sa-discoveryengine.iam.gserviceaccount.com"
}

@test "--mode=functions deploys with gcloud functions, --mode functions too" {
    deploy --dry-run --mode=functions
    [[ $(commands | grep -c "gcloud functions deploy .* --gen2 ") == "$(count --mode=functions)" ]]
    [[ $(commands) != *"gcloud run deploy"* ]]
    first=$output
    deploy --dry-run --mode functions
    [[ $output == "$first" ]]
}

@test "--only takes stages and functions" {
    deploy --dry-run --only=expense,pm
    [[ $(commands | grep -c "gcloud run deploy ") == 2 ]]
    [[ $(commands) != *"services enable"* && $(commands) != *api-gateway* ]]
}

@test "a function that is no part of this deployment is passed over" {
    deploy --dry-run --only=devtool
    [[ $status == 0 ]]
    says "devtool is no part of this deployment"
    [[ $(commands) != *" deploy "* ]]
}

@test "with --direct neither the gate nor the gateway is a part of it" {
    deploy --dry-run --direct --only=gate,gateway
    [[ $status == 0 ]]
    says "gate is no part of this deployment"
    says "gateway is no part of this deployment"
    deploy --dry-run --only=gateway
    [[ $output != *"no part of"* ]]
}

@test "a stage that nobody knows is refused, with those that are known" {
    deploy --only=hubb
    [[ $status == 2 ]]
    says "--only hubb: known are prepare bundle gateway"
}

@test "an option that nobody knows is refused, with those that there are" {
    run ./deploy.sh --dryrun
    [[ $status == 2 ]]
    says "there is no option --dryrun"
    says "--dry-run"
}

@test "an option without its value is refused" {
    for option in --config --mode --only; do
        run ./deploy.sh "$option"
        [[ $status == 2 ]] || fail "$option: $status"
        says "deploy.sh: $option needs"
    done
    run ./deploy.sh --mode=function --dry-run
    [[ $status == 2 ]]
    says "deploy.sh: --mode needs run or functions"
}

@test "--help needs nothing" {
    run env PATH=/usr/bin:/bin ./deploy.sh --help
    [[ $status == 0 ]]
    says "--dry-run"
}

@test "without deploy.toml it says where to begin" {
    config=$BATS_TEST_TMPDIR/none.toml
    deploy --dry-run
    [[ $status == 2 ]]
    says "There is no $config: copy deploy.example.toml"
}

@test "a file that cannot be read is told without a stack" {
    printf 'project = "\377"' >"$config"
    deploy --dry-run
    [[ $status == 2 && $output == "$config is not UTF-8: save it as UTF-8" ]] || fail "$output"
    config=$BATS_TEST_TMPDIR
    deploy --dry-run
    [[ $status == 2 && $output == "$config cannot be read: Is a directory" ]] || fail "$output"
    config=$BATS_TEST_TMPDIR/broken.toml
    printf 'project = "a\n' >"$config"
    deploy --dry-run
    [[ $status == 2 && $output == "$config is no TOML: "* ]] || fail "$output"
    printf 'project = %s' "$(printf '[%.0s' {1..5000})" >"$config"
    deploy --dry-run
    [[ $status == 2 && $output == "$config is no TOML: Too many tables and lists in one another"*" (at line 1, column 1)" ]] || fail "$output"
}

@test "a route table that is no table is told without a stack" {
    cp routes.toml kept.toml
    printf '[[routes]]\nid = \n' >routes.toml
    deploy --dry-run
    mv kept.toml routes.toml
    [[ $status == 2 && $output == "routes.toml is no TOML: "* ]] || fail "$output"
}

@test "everything that is wrong with deploy.toml is said at once, with lines" {
    printf 'project = "X"\nregion = "tokyo"\ntypo = 1\n' >"$config"
    deploy --dry-run
    [[ $status == 2 ]]
    says "deploy.toml:1: project is 'X'"
    says "deploy.toml:2: region is 'tokyo'"
    says "deploy.toml:3: "
}

@test "nothing in deploy.toml is run by the shell" {
    printf 'project = "my-hub-project"\nregion = "asia-northeast1"\n[identity]\noauth_client_ids = ["1-a.apps.googleusercontent.com"]
[functions.hub.environment]\nGREETING = "$(touch %s) `touch %s`"
[functions.pm]\nurl = "https://pm.example.com/$(touch${IFS}%s)"\n' "$CALLED" "$CALLED" "$CALLED" >"$config"
    deploy --dry-run --only=hub,pm
    [[ $status == 0 ]] || fail "$output"
    says "\$(touch $CALLED)"
}

@test "a tool that is missing is named" {
    # With nothing else on the path than what Bash itself needs.
    mkdir "$BATS_TEST_TMPDIR/few"
    for tool in bash mktemp dirname rm cat; do ln -s "$(type -P "$tool")" "$BATS_TEST_TMPDIR/few/$tool"; done
    run env PATH="$BATS_TEST_TMPDIR/few" ./deploy.sh --dry-run
    [[ $status == 2 ]]
    says "gcloud is needed, and not installed"
}

@test "an old Bash, which cannot read the script, gets a sentence instead of a syntax error" {
    sed '1,/^}/{s/>= 44/>= 990/; s/^}/}\nif [[ \$x == (/}' deploy.sh >old.sh
    run bash old.sh --help
    [[ $status == 2 && $output == *"Bash 4.4 or newer is needed"*"brew install bash"* ]] || fail "$output"
}
