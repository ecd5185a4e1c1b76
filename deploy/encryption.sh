# shellcheck shell=bash disable=SC2154 # the names are those of deploy.sh and of its plan
# Keys of Cloud KMS (kms_key in deploy.toml): the products encrypt by them through accounts of their own, which must be allowed to.

# The account for a product: service-NUMBER@NAME.iam.gserviceaccount.com.
declare -A service_agent=([artifactregistry]=gcp-sa-artifactregistry [cloudfunctions]=gcf-admin-robot [firestore]=gcp-sa-firestore
    [pubsub]=gcp-sa-pubsub [run]=serverless-robot-prod [secretmanager]=gcp-sa-secretmanager)

share_key() { # PROJECT: lets the products that keep its data use its key, and makes the repository of its images under it
    local api agent member name unread='' policy='' repositories='' key=${kms_key[$1]} role=roles/cloudkms.cryptoKeyEncrypterDecrypter
    local read=(gcloud kms keys get-iam-policy "$key" --flatten='bindings[].members'
        --format='csv[no-heading](bindings.role,bindings.members)' "${there[@]}")
    step "the key $key"
    list gcloud projects describe "$1" --format='value(projectNumber)' "${there[@]}"
    number["$1"]=${answer:-PROJECT_NUMBER}
    if [[ $dry_run ]]; then
        show "${read[@]}"
    elif ! policy=$("${read[@]}" 2>"$problem"); then
        unread=yes
        echo "# WARNING: you may not read who uses this key. Unless it is done already, its administrator has to run:"
    fi
    for api in ${apis[$1]}; do
        agent=${service_agent[${api%%.*}]:-}
        member=serviceAccount:service-${number[$1]}@$agent.iam.gserviceaccount.com
        if [[ -z $agent ]] || grep -qxF -- "$role,$member" <<<"$policy"; then continue; fi
        set -- "$1" gcloud kms keys add-iam-policy-binding "$key" --member="$member" --role="$role"
        # A product makes its account at its first use, which would be too late.
        [[ $unread ]] || execute_patiently gcloud beta services identity create --service="$api" "${there[@]}"
        if [[ $unread ]]; then show '#' "${@:2}"; else bind "${@:2}" "${there[@]}"; fi
    done
    # gcloud would make it without the key.
    for name in "${functions[@]}"; do
        if [[ ${project[$name]} != "$1" || " $repositories " == *" ${region[$name]} "* ]]; then continue; fi
        repositories+=" ${region[$name]}"
        exists gcloud artifacts repositories describe "$images" --location="${region[$name]}" --format='value(name)' "${there[@]}" ||
            execute_patiently gcloud artifacts repositories create "$images" --repository-format=docker \
                --location="${region[$name]}" --kms-key="$key" "${there[@]}"
    done
}
