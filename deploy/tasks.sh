# shellcheck shell=bash disable=SC2154,SC2034 # the names are those of deploy.sh and of its plan
# The resources of stored tasks: a Firestore database with its indexes, topics and subscriptions, a queue, and a sweep.

make_task_store() { # DATABASE PROJECT REGION
    local flags missing services exists='' place=(--database="$1" "${there[@]}")
    step "tasks: the database $1 of $2"
    list gcloud run services list --format=json "${there[@]}"
    services=$answer
    if find_database; then exists=--exists; fi
    # shellcheck disable=SC2086 # flags, or nothing
    ask check-store "$1" $exists $empty_store <<<"$services" || exit
    if [[ -z $exists ]]; then
        execute gcloud firestore databases create --location="$3" --type=firestore-native \
            ${delete_protection:+"$delete_protection"} ${kms_key[$2]:+--kms-key-name="${kms_key[$2]}"} "${place[@]}"
        fresh=yes
        wait_for_database
    fi
    [[ $dry_run || $answer == FIRESTORE_NATIVE ]] ||
        refuse "the database $1 of $2 is of another kind: name a new one, TASK_STORE = \"firestore:NAME\""
    list gcloud firestore indexes composite list --format='json(name,queryScope,fields)' "${place[@]}"
    missing=$(ask missing-indexes <<<"$answer") || exit
    # Firestore builds them asynchronously; until then some lists of tasks fail.
    while read -ra flags -u 4 && ((${#flags[@]})); do
        execute_patiently gcloud firestore indexes composite create "${flags[@]}" --async "${place[@]}"
    done 4<<<"$missing"
    list gcloud firestore indexes fields list --format='json(name,indexConfig)' "${place[@]}"
    missing=$(ask missing-fields <<<"$answer") || exit
    while read -ra flags -u 4 && ((${#flags[@]})); do
        execute_patiently gcloud firestore indexes fields update "${flags[@]}" --disable-indexes --async "${place[@]}"
    done 4<<<"$missing"
}

find_database() { # $answer is its type
    exists gcloud firestore databases describe --format='value(type)' "${place[@]}"
}

wait_for_database() {
    local looks=0
    [[ $dry_run ]] && return
    until find_database; do
        ((looks++ < 30)) || stop gcloud firestore databases describe "${place[@]}"
        pause 5
    done
}

make_topics() {
    local topic worker publisher existing
    step "topics of wake-ups"
    list gcloud pubsub topics list --format='value(name.basename())' "${there[@]}"
    existing=$answer
    for topic in "${!topics[@]}"; do
        grep -qxF -- "$topic" <<<"$existing" || 
            execute_patiently gcloud pubsub topics create "$topic" \
                ${kms_key[$home]:+--topic-encryption-key="${kms_key[$home]}"} "${labelled[@]}" "${there[@]}"
        for publisher in hub tasks; do
            let_use "${account[$publisher]}" roles/pubsub.publisher "gcloud pubsub topics" "$topic"
        done
        for worker in ${topics[$topic]}; do
            let_use "$worker" roles/pubsub.subscriber "gcloud pubsub topics" "$topic"
        done
    done
}

let_use() { # ACCOUNT ROLE GROUP-OF-COMMANDS RESOURCE [FLAG…]
    local group
    read -ra group <<<"$3"
    holds "serviceAccount:$1" "$2" "${group[@]}" get-iam-policy "${@:4}" "${there[@]}" ||
        bind "${group[@]}" add-iam-policy-binding "${@:4}" --member="serviceAccount:$1" --role="$2" "${there[@]}"
}

make_queue() { # for wake-ups with a time. Cloud Tasks calls as an account that whoever adds a task has to be allowed to use.
    local publisher
    step "the queue of wake-ups with a time"
    exists gcloud tasks queues describe "$queue" --format='value(name)' --location="$home_region" "${there[@]}" ||
        execute_patiently gcloud tasks queues create "$queue" --location="$home_region" "${there[@]}"
    for publisher in hub tasks; do
        let_use "${account[$publisher]}" roles/cloudtasks.enqueuer "gcloud tasks queues" "$queue" --location="$home_region"
        let_use "${account[$publisher]}" roles/iam.serviceAccountUser "gcloud iam service-accounts" "$wakeups_account"
    done
}

push_wakeups() { # subscribes `tasks` to every topic, with an ID token of an account that has no other role
    local topic name endpoint=${url[tasks]}/wakeups ack=600
    local push=(--push-endpoint="$endpoint" --push-auth-service-account="$wakeups_account" --push-auth-token-audience="${url[tasks]}")
    # An old wake-up is useless: sweeps find the work. A task runs inside the push that tells of it.
    local limits=(--message-retention-duration=10m --expiration-period=never --ack-deadline="$ack")
    step "subscriptions of tasks"
    in_project "$home"
    for topic in "${!topics[@]}"; do
        name=${service[tasks]}.$topic
        if ! exists gcloud pubsub subscriptions describe "$name" \
            --format='csv[no-heading](pushConfig.pushEndpoint,ackDeadlineSeconds)' "${there[@]}"; then
            execute_patiently gcloud pubsub subscriptions create "$name" --topic="$topic" "${push[@]}" "${limits[@]}" "${labelled[@]}" "${there[@]}"
        elif [[ $answer != "$endpoint,$ack" ]]; then
            execute gcloud pubsub subscriptions update "$name" "${push[@]}" --ack-deadline="$ack" "${there[@]}"
        fi
    done
}

make_sweeps() { # Cloud Scheduler has `tasks` look for what nobody was woken for
    local verb='' endpoint=${url[tasks]}/wakeups
    local body='{"message":{"data":"eyJ0YXNrSWQiOiJhbGwifQ==","attributes":{"roleTopic":"sweeps"}}}'
    step "the sweep of every minute"
    if ! exists gcloud scheduler jobs describe "$sweeps" --format='value(httpTarget.uri)' --location="$home_region" "${there[@]}"; then
        verb=create
    elif [[ $answer != "$endpoint" ]]; then
        verb=update
    fi
    [[ -z $verb ]] || execute_patiently gcloud scheduler jobs "$verb" http "$sweeps" --location="$home_region" --schedule='* * * * *' \
        --uri="$endpoint" --http-method=post --message-body="$body" --attempt-deadline=600s \
        --oidc-service-account-email="$wakeups_account" --oidc-token-audience="${url[tasks]}" "${there[@]}"
}
