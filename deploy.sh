#!/usr/bin/env bash
# Deploys the hub and its agents to Google Cloud, as deploy.toml says. Every step checks before it changes: a second run changes nothing.
# shellcheck disable=SC2154 # the other names are defined by `python3 -m deploy plan` (deploy/shell.py)
set -euo pipefail
# First of all, since the Bash of macOS, which is 3.2, does not even read the rest.
((BASH_VERSINFO[0] * 10 + BASH_VERSINFO[1] >= 44)) || {
    echo "deploy.sh: Bash 4.4 or newer is needed; this is $BASH_VERSION. On macOS: brew install bash" >&2
    exit 2
}
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
# `python3 -m deploy` reads deploy.toml with the package in shared/; no environment is set up for it.
export PYTHONPATH="$PWD/shared${PYTHONPATH:+:$PYTHONPATH}"

usage() {
    cat <<'TEXT'
./deploy.sh [COMMAND] [OPTION…]
  without a command: deploys
  preflight          read what would stop the deployment (policies, quotas, APIs, billing, regions, roles), and report it all
  rollback           undo the last deployment: traffic to the revisions before, and the gateway's config before
  delete             delete everything that a deployment made; the databases of tasks only with --data; asks, unless --yes

  --dry-run          print every command of a first deployment; run none (files are written below build/)
  --config FILE      the settings (deploy.toml; deploy.example.toml explains them)
  --direct           no gateway: Gemini Enterprise calls the hub's own address
  --mode MODE        run: gcloud run deploy --function (default); functions: gcloud functions deploy --gen2
  --only STAGE,…     of prepare (services, accounts, secrets), bundle, gateway, monitoring, and the names of functions
  --canary PERCENT   give a new revision so much of the traffic, after it was deployed without any and answered; 100: all
  --empty-store      begin with an empty task store, though there are tasks in another database of the project
  --url              print the public address, and do nothing
  --json             print the outcome as JSON, and everything else to standard error
TEXT
}

refuse() { # TEXT
    echo "deploy.sh: $*" >&2
    exit 2
}

dry_run='' config=deploy.toml direct='' mode=run only='' quiet='' empty_store='' json='' verb='' canary='' undo=()
while (($#)); do
    case $1 in
        --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
        --dry-run) dry_run=yes ;;
        --config) config=${2:-} && shift && [[ $config ]] || refuse "--config needs a file" ;;
        --direct) direct=--direct ;;
        --mode) mode=${2:-} && shift && [[ $mode == run || $mode == functions ]] || refuse "--mode needs run or functions" ;;
        --only) only=${2:-} && shift && [[ $only ]] || refuse "--only needs the name of a stage or a function" ;;
        --canary) canary=${2:-} && shift && [[ $canary =~ ^([1-9]|[1-9][0-9]|100)$ ]] || refuse "--canary needs 1 to 100" ;;
        --data | --yes) undo+=("$1") ;;
        --empty-store) empty_store=--empty-store ;;
        --url) quiet=yes ;;
        --json) json=--json ;;
        preflight | rollback | delete) verb=$1 ;;
        --help | -h) usage && exit ;;
        *) printf 'deploy.sh: there is no option %s\n\n' "$1" >&2 && usage >&2 && exit 2 ;;
    esac
    shift
done

[[ ${#undo[@]} == 0 || $verb == delete ]] || refuse "--data and --yes are options of delete"
[[ -z $canary || $mode == run ]] || refuse "--canary needs --mode run: functions have no revisions without traffic"
# Each deployment has a name, by which rollback finds what it changed. The steps of one build share it.
TZ=UTC printf -v deployment '%(%Y%m%d-%H%M%S)T' -1
deployment=${DEPLOYMENT:-$deployment}
[[ -z $dry_run ]] || deployment='name-of-this-run'
if [[ $json && -z $verb ]]; then exec 5>&1 1>&2; fi

problem=$(mktemp)
trap 'rm -f -- "$problem"' EXIT
source deploy/builds.sh
source deploy/commands.sh
source deploy/encryption.sh
source deploy/gateway.sh
source deploy/tasks.sh

main() {
    local name bundled=() picked=()
    check_tools
    if [[ $verb ]]; then
        ask "$verb" ${dry_run:+--dry-run} ${json:+"$json"} "${undo[@]}"
        return
    fi
    read_plan
    if [[ $quiet ]]; then
        if [[ $direct ]]; then find_addresses; fi
        know_public_address
        echo "$public_url"
        return
    fi
    if chosen prepare; then prepare; fi
    find_addresses
    if chosen prepare && ((${#topics[@]})); then
        push_wakeups
        make_sweeps
    fi
    if chosen bundle; then
        step "bundles"
        for name in "${functions[@]}"; do
            [[ ${container[$name]} ]] || bundled+=("$name")
        done
        execute "$(python_of_runtime)" -m local.bundle "${bundled[@]}"
    fi
    # The gateway's address is on the agent card. Those of the services are known, so that it can be there before them.
    if [[ -z $direct ]] && chosen gateway && ! find_gateway; then make_gateway; fi
    for name in "${functions[@]}"; do
        if chosen "$name"; then picked+=("$name"); fi
    done
    deploy_functions "${picked[@]}"
    if [[ -z $direct && -z ${made_gateway:-} && -z ${failed[*]} ]] && chosen gateway; then update_gateway; fi
    if [[ $json ]]; then report_outcome >&5; fi
    if [[ $monitoring ]] && chosen monitoring; then
        step "dashboard and alert policies"
        ask monitoring build/monitoring ${dry_run:+--dry-run}
    fi
    if ((${#failed[@]})); then
        printf '\ndeploy.sh: these failed, and what was there before goes on serving: %s\n' "${failed[*]}" >&2
    fi
    if ((${#refused[@]})); then
        printf '\n# Done, except for these grants, which were refused:\n'
        printf '%s\n' "${refused[@]}"
    fi
    [[ -z ${failed[*]}${refused[*]} ]] || exit 1
    [[ -z $only ]] || return 0
    know_public_address
    step "done: $public_url"
    echo "# next: register it in Gemini Enterprise with hubctl register (docs/gemini-enterprise.md)"
    [[ $direct ]] || echo "#       after deploy/smoke.sh $public_url"
}

report_outcome() { # as JSON
    local name pairs=()
    for name in "${!outcome[@]}"; do pairs+=("$name=${outcome[$name]}"); done
    printf '%s\n' "${refused[@]}" | ask outcome "$public_url" "${pairs[@]}"
}

# --- the plan and the addresses ---

check_tools() {
    local tool
    for tool in gcloud python3 curl; do
        command -v "$tool" >/dev/null || refuse "$tool is needed, and not installed (docs/deployment.md)"
    done
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || refuse "Python 3.11 or newer is needed as python3"
}

ask() { # QUESTION…
    python3 -m deploy --config "$config" ${direct:+"$direct"} --mode "$mode" "$@"
}

read_plan() {
    local declarations stage known
    declarations=$(ask plan) || exit
    eval "$declarations"
    known="prepare bundle gateway monitoring ${all_functions[*]}"
    for stage in ${only//,/ }; do
        [[ " $known " == *" $stage "* ]] || refuse "--only $stage: known are $known"
        [[ " prepare bundle ${direct:-gateway} ${monitoring:+monitoring} ${functions[*]} " == *" $stage "* ]] || step "$stage is no part of this deployment"
    done
    COMMIT_SHA=${COMMIT_SHA:-$(git rev-parse HEAD 2>/dev/null || echo unknown)}
    export COMMIT_SHA
}

chosen() { # STAGE
    [[ -z $only || ,$only, == *,"$1",* ]]
}

in_project() { # PROJECT: sets $there, the flags with which gcloud acts in it
    read -ra there <<<"--project=$1 ${identity_of[$1]} --quiet"
}

find_addresses() { # a service's address consists of its name, its project's number and its region
    local name
    step "addresses"
    for name in "${!number[@]}"; do
        [[ -z ${number[$name]} ]] || continue
        in_project "$name"
        list gcloud projects describe "$name" --format='value(projectNumber)' "${there[@]}"
        number["$name"]=${answer:-PROJECT_NUMBER}
    done
    addresses=()
    # A secret of another project is named with that project's number.
    for name in "${!resources[@]}"; do
        resources["$name"]=${resources[$name]//projects\/$home\/secrets\//projects/${number[$home]}/secrets/}
    done
    for name in "${!service[@]}"; do
        url["$name"]=${url[$name]:-https://${service[$name]}-${number[${project[$name]}]}.${region[$name]}.run.app}
        addresses+=("$name=${url[$name]}")
    done
}

know_public_address() {
    if [[ $direct ]]; then public_url=${url[hub]}; fi
    [[ $public_url ]] || find_gateway || [[ $dry_run ]] || refuse "there is no gateway yet: run ./deploy.sh --only prepare,gateway"
    public_url=${public_url:-https://GATEWAY_ADDRESS}
}

# --- prepare: the steps of an administrator, once ---

prepare() {
    local name
    for name in "${!apis[@]}"; do
        in_project "$name"
        enable_services "$name"
        make_accounts "$name"
        if [[ ${kms_key[$name]:-} ]]; then share_key "$name"; fi
    done
    make_secrets
    for name in "${functions[@]}"; do
        give_roles "$name"
        [[ -z ${bucket[$name]} ]] || share_bucket "$name"
    done
    for name in "${!database[@]}"; do
        in_project "${project[$name]}"
        make_task_store "${database[$name]}" "${project[$name]}" "${region[$name]}"
    done
    in_project "$home"
    if ((${#topics[@]})); then
        make_topics
        make_queue
    fi
    ((changes == 0)) || fresh=yes
}

enable_services() { # PROJECT
    local api missing=()
    step "services of $1"
    list gcloud services list --enabled --format='value(config.name)' "${there[@]}"
    for api in ${apis[$1]}; do
        grep -qx -- "$api" <<<"$answer" || missing+=("$api")
    done
    ((${#missing[@]} == 0)) && return
    execute gcloud services enable "${missing[@]}" "${there[@]}"
    fresh=yes
}

make_accounts() { # PROJECT
    local name
    step "service accounts of $1"
    list gcloud iam service-accounts list --format='value(email)' "${there[@]}"
    for name in ${accounts[$1]}; do
        grep -qx -- "$name@$1.iam.gserviceaccount.com" <<<"$answer" || execute gcloud iam service-accounts create "$name" "${there[@]}"
    done
    give_role "$1" "$build_account@$1.iam.gserviceaccount.com" roles/run.builder
}

give_role() { # PROJECT ACCOUNT ROLE[@DATABASE]
    local member=serviceAccount:$2 role=${3%@*} database='' condition=None
    if [[ $3 == *@* ]]; then
        database=${3#*@}
        condition="expression=resource.name==\"projects/$1/databases/$database\",title=${database//[()]/}"
    fi
    holds "$member${database:+,${condition##*title=}}" "$role" gcloud projects get-iam-policy "$1" "${there[@]}" ||
        bind gcloud projects add-iam-policy-binding "$1" --member="$member" --role="$role" --condition="$condition" "${there[@]}"
    if [[ $database ]] && grep -qxF -- "$member" <<<"$answer"; then
        echo "# WARNING: $2 may use every database of $1, as an older deployment granted. To end that:"
        show '#' gcloud projects remove-iam-policy-binding "$1" --member="$member" --role="$role" --condition=None "${there[@]}"
    fi
}

give_roles() { # FUNCTION: in its project; most need none
    local role
    in_project "${project[$1]}"
    for role in ${roles[$1]}; do
        give_role "${project[$1]}" "${account[$1]}" "$role"
    done
}

make_secrets() {
    local secret reader member role=roles/secretmanager.secretAccessor
    step "secrets"
    in_project "$home"
    mkdir -p build
    [[ -z $replication_policy ]] || printf '%s\n' "$replication_policy" >build/replication.json
    for secret in "${!public_keys[@]}"; do
        has_value "$secret" || make_key_pair "$secret" "${public_keys[$secret]}"
    done
    for secret in "${!readers[@]}"; do
        [[ " ${!public_keys[*]} ${public_keys[*]} " == *" $secret "* ]] || has_value "$secret" || needs_value "$secret"
        for reader in ${readers[$secret]}; do
            member=serviceAccount:${account[$reader]}
            holds "$member" "$role" gcloud secrets get-iam-policy "$secret" "${there[@]}" ||
                bind gcloud secrets add-iam-policy-binding "$secret" --member="$member" --role="$role" --condition=None "${there[@]}"
        done
    done
}

has_value() { # SECRET
    exists gcloud secrets versions list "$1" --filter=state=ENABLED --limit=1 --format='value(name)' "${there[@]}" && [[ $answer ]]
}

needs_value() { # SECRET
    [[ $dry_run ]] || refuse "the secret $1, which $config names, has no value: gcloud secrets create $1 --data-file=FILE --project=$home ${replication[*]}"
}

make_key_pair() { # PRIVATE PUBLIC: the secrets with which a function signs, and others verify, who calls
    local secret key=''
    command -v openssl >/dev/null || refuse "openssl is needed to make keys, and not installed"
    for secret in "$@"; do
        exists gcloud secrets describe "$secret" --format='value(name)' "${there[@]}" ||
            execute gcloud secrets create "$secret" "${replication[@]}" "${labelled[@]}" "${there[@]}"
    done
    [[ $dry_run ]] || key=$(openssl ecparam -name prime256v1 -genkey -noout)
    # The private half comes last: after an interruption a new pair is made. It is in no argument, file or log.
    public_half | execute gcloud secrets versions add "$2" --data-file=- "${there[@]}"
    private_half | execute gcloud secrets versions add "$1" --data-file=- "${there[@]}"
}

private_half() { # of $key
    [[ $dry_run ]] || printf '%s\n' "$key"
}

public_half() {
    [[ $dry_run ]] || private_half | openssl ec -pubout 2>/dev/null
}

share_bucket() { # FUNCTION: gives it read or write access to its bucket
    local member=serviceAccount:${account[$1]} role=${bucket_role[$1]}
    step "the bucket of $1"
    in_project "${project[$1]}"
    holds "$member" "$role" gcloud storage buckets get-iam-policy "gs://${bucket[$1]}" "${there[@]}" ||
        bind gcloud storage buckets add-iam-policy-binding "gs://${bucket[$1]}" --member="$member" --role="$role" --condition=None "${there[@]}"
}

# --- functions ---

deploy_function() { # FUNCTION
    local name=$1 flags content created='' pinned='' serving='' same='' environment=build/$1.env.yaml
    if [[ ${publishes[$name]} ]]; then know_public_address; fi
    step "$name: ${url[$name]}"
    in_project "${project[$name]}"
    mkdir -p build
    read -ra flags <<<"${resources[$name]}"
    flags+=(--service-account="${account[$name]}" --env-vars-file="$environment" --region="${region[$name]}")
    flags+=(--build-service-account="projects/${project[$name]}/serviceAccounts/$build_account@${project[$name]}.iam.gserviceaccount.com")
    if [[ ${container[$name]} ]]; then
        set -- gcloud run deploy "${service[$name]}" --source="${container[$name]}" "${flags[@]}"
    elif [[ $mode == run ]]; then
        set -- gcloud run deploy "${service[$name]}" --function="$name" --source="build/$name" --base-image="$runtime" "${flags[@]}"
    else
        set -- gcloud functions deploy "${service[$name]}" --gen2 --trigger-http --entry-point="$name" --source="build/$name" \
            --runtime="$runtime" "${flags[@]}"
    fi
    content=$(ask environment "$name" "$environment" "${container[$name]:-build/$name}" "public=$public_url" "${addresses[@]}" \
        -- "$@" ${labels:+"$labels"}) || exit
    if [[ $dry_run ]]; then
        sed 's/^/#     /' "$environment"
        content=hash-of-it-all
    fi
    if serves "$name" "$content"; then same=yes; fi
    # The revision that has the requests now is the one to go back to: that before this one may be a canary that failed.
    set -- "$@" --update-labels="content=$content,deployment=$deployment${serving:+,before=$serving}${labels:+,$labels}" "${there[@]}"
    outcome["$name"]=deployed
    if [[ $same ]]; then
        echo "# unchanged"
        outcome["$name"]=unchanged
        if [[ $canary && $pinned ]]; then
            # It may be one that did not answer the last time.
            try_canary "$name"
            give_traffic "$name"
        fi
    elif [[ $canary && ($created || $dry_run) ]]; then
        execute_patiently "$@" --no-traffic --tag=canary
        try_canary "$name"
        give_traffic "$name"
    else
        execute_patiently "$@"
    fi
    if [[ $pinned ]]; then
        echo "# WARNING: an older version of $name gets the requests, as after a roll-back. For all, ./deploy.sh --config $config --canary 100 ends that; for it:"
        show '#' gcloud run services update-traffic "${service[$name]}" --to-latest --region="${region[$name]}" "${there[@]}"
    fi
    grant "$name"
}

try_canary() { # FUNCTION: asks the revision without traffic whether it is well; stops if not, while the one before serves
    local token='' status=000 address=${url[$1]/\/\//\/\/canary---}
    set -- curl --silent --output /dev/null --write-out '%{http_code}' --max-time 60 --retry 3 --retry-all-errors "$address/health"
    show "$@"
    [[ -z $dry_run ]] || return 0
    token=$(gcloud auth print-identity-token "${there[@]}" 2>/dev/null) || token=''
    status=$(printf '%s' "${token:+Authorization: Bearer $token}" | "$@" --header @- 2>"$problem") || true
    # A caller whom IAM refuses learns no more than that it has started, which Cloud Run has checked.
    [[ $status =~ ^(2..|401|403|404)$ ]] && return
    echo "the new revision answers $status at $address/health; the one before still serves" >>"$problem"
    stop "$@"
}

give_traffic() { # FUNCTION: as much as --canary says, to the newest revision
    local to=--to-tags=canary=$canary
    if [[ $canary == 100 ]]; then to=--to-latest; fi
    execute gcloud run services update-traffic "${service[$1]}" "$to" --region="${region[$1]}" "${there[@]}"
    pinned=''
}

serves() { # FUNCTION CONTENT: true if this content runs there; a revision that did not start is deployed again. Sets $serving to
    # the revision with most of the traffic
    local place=("${service[$1]}" --region="${region[$1]}" "${there[@]}") line label ready latest percent revision most=0
    local revisions=status.latestCreatedRevisionName,status.latestReadyRevisionName
    local traffic=spec.traffic.latestRevision,spec.traffic.percent,spec.traffic.revisionName
    if [[ $mode == run ]]; then
        exists gcloud run services describe "${place[@]}" --flatten='spec.traffic[]' \
            --format="csv[no-heading](metadata.labels.content,$revisions,$traffic)" || return 1
        pinned=yes
        while read -r line; do
            IFS=, read -r label created ready latest percent revision <<<"$line"
            if [[ $latest == True ]]; then pinned='' revision=$ready; fi
            if ((${percent:-0} > most)); then most=$percent serving=$revision; fi
        done <<<"$answer"
        [[ $label == "$2" && $created == "$ready" ]]
    else
        exists gcloud functions describe "${place[@]}" --gen2 --format='csv[no-heading](labels.content,state)' && [[ $answer == "$2,ACTIVE" ]]
    fi
}

grant() { # FUNCTION: gives its invokers their role (docs/deployment.md)
    local name=$1 member place=(--region="${region[$1]}") role=roles/run.invoker
    for member in ${members[$name]}; do
        holds "$member" "$role" gcloud run services get-iam-policy "${service[$name]}" "${place[@]}" "${there[@]}" ||
            bind gcloud run services add-iam-policy-binding "${service[$name]}" --member="$member" --role="$role" "${place[@]}" "${there[@]}"
    done
    while read -r member; do
        [[ -z $member || " ${members[$name]} " == *" $member "* ]] && continue
        echo "# WARNING: $member may invoke $name too, which this deployment did not grant. To end that:"
        show '#' gcloud run services remove-iam-policy-binding "${service[$name]}" --member="$member" --role="$role" "${place[@]}" "${there[@]}"
    done <<<"$answer"
}

main
