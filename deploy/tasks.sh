# shellcheck shell=bash disable=SC2154,SC2034 # the names are those of deploy.sh and of its plan
# The resources of stored tasks: a Firestore database with its indexes, topics, and Pub/Sub's subscriptions to `tasks`.

make_task_store() { # DATABASE PROJECT REGION
    local flags missing place=(--database="$1" "${there[@]}")
    step "tasks: the database $1 of $2"
    if ! find_database; then
        execute gcloud firestore databases create --location="$3" --type=firestore-native "${place[@]}"
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
    local topic worker existing
    step "topics of wake-ups"
    list gcloud pubsub topics list --format='value(name.basename())' "${there[@]}"
    existing=$answer
    for topic in "${!topics[@]}"; do
        grep -qxF -- "$topic" <<<"$existing" || execute_patiently gcloud pubsub topics create "$topic" "${there[@]}"
        let_use_topic "$topic" "${account[hub]}" roles/pubsub.publisher
        for worker in ${topics[$topic]}; do
            let_use_topic "$topic" "$worker" roles/pubsub.subscriber
        done
    done
}

let_use_topic() { # TOPIC ACCOUNT ROLE
    holds "serviceAccount:$2" "$3" gcloud pubsub topics get-iam-policy "$1" "${there[@]}" ||
        bind gcloud pubsub topics add-iam-policy-binding "$1" --member="serviceAccount:$2" --role="$3" "${there[@]}"
}

push_wakeups() { # subscribes `tasks` to every topic, with an ID token of an account that has no other role
    local topic name endpoint=${url[tasks]}/wakeups
    local push=(--push-endpoint="$endpoint" --push-auth-service-account="$wakeups_account" --push-auth-token-audience="${url[tasks]}")
    # An old wake-up is useless: `tasks` polls by itself.
    local limits=(--message-retention-duration=10m --expiration-period=never --ack-deadline=10)
    step "subscriptions of tasks"
    in_project "$home"
    for topic in "${!topics[@]}"; do
        name=${service[tasks]}.$topic
        if ! exists gcloud pubsub subscriptions describe "$name" --format='value(pushConfig.pushEndpoint)' "${there[@]}"; then
            execute_patiently gcloud pubsub subscriptions create "$name" --topic="$topic" "${push[@]}" "${limits[@]}" "${there[@]}"
        elif [[ $answer != "$endpoint" ]]; then
            execute gcloud pubsub subscriptions modify-push-config "$name" "${push[@]}" "${there[@]}"
        fi
    done
}
