# shellcheck shell=bash disable=SC2154,SC2034 # the names are those of deploy.sh and of its plan
# The API Gateway: an API, a config for each content of gateway/openapi.yaml, and one gateway that points to the newest.

find_gateway() { # sets $public_url to its address and $in_use to its config; false if there is none
    local host state
    in_project "$home"
    while true; do
        exists gcloud api-gateway gateways describe "$gateway" --location="$gateway_region" \
            --format='csv[no-heading](defaultHostname,apiConfig,state)' "${there[@]}" || return 1
        IFS=, read -r host in_use state <<<"$answer"
        [[ $state == CREATING || $state == UPDATING ]] || break
        [[ $quiet ]] || echo "# waiting for the gateway: $state"
        pause 10
    done
    [[ $state == ACTIVE ]] || refuse "the gateway is $state. Delete it, and run this again:" \
        "gcloud api-gateway gateways delete $gateway --location=$gateway_region ${there[*]}"
    public_url=${public_url:-https://$host}
}

make_gateway() {
    step "gateway"
    made_gateway=yes
    make_api_config
    if [[ $streaming ]]; then
        create_streaming_gateway
    else
        execute_patiently gcloud api-gateway gateways create "$gateway" --api="$gateway" --api-config="$api_config" --location="$gateway_region" "${labelled[@]}" "${there[@]}"
    fi
}

update_gateway() {
    step "gateway: the newest config"
    if ! find_gateway && [[ -z $dry_run ]]; then stop gcloud api-gateway gateways describe "$gateway"; fi
    make_api_config
    if [[ ${in_use:-} == */configs/"$api_config" ]]; then
        echo "# unchanged"
    else
        execute gcloud api-gateway gateways update "$gateway" --api="$gateway" --api-config="$api_config" --location="$gateway_region" \
            --update-labels="deployment=$deployment,before=${in_use##*/}" "${there[@]}"
    fi
}

make_api_config() { # sets $api_config to the config of gateway/openapi.yaml; its id is a hash of the contents, which never change
    local file=build/gateway/openapi.yaml its_api=(--api="$gateway" "${there[@]}")
    api_config=$(ask api-config "$file" "$gateway_account" "${addresses[@]}") || exit
    exists gcloud api-gateway apis describe "$gateway" --format='value(name)' "${there[@]}" || execute gcloud api-gateway apis create "$gateway" "${labelled[@]}" "${there[@]}"
    # Two configs made at once fail: gcloud waits for its own, and this loop for one of somebody else's.
    while list gcloud api-gateway api-configs list --filter=state=CREATING --format='value(name)' "${its_api[@]}" && [[ $answer ]]; do
        echo "# waiting for $answer"
        pause 10
    done
    if exists gcloud api-gateway api-configs describe "$api_config" --format='value(state)' "${its_api[@]}"; then
        [[ $answer == FAILED ]] || return 0
        execute gcloud api-gateway api-configs delete "$api_config" "${its_api[@]}"
    fi
    execute_patiently gcloud api-gateway api-configs create "$api_config" --openapi-spec="$file" --backend-auth-service-account="$gateway_account" "${labelled[@]}" "${its_api[@]}"
}

create_streaming_gateway() { # over REST: not every gcloud has a flag for streaming, and it cannot be switched on later
    local parent=projects/$home/locations/$gateway_region host=${CLOUDSDK_API_ENDPOINT_OVERRIDES_APIGATEWAY:-https://apigateway.googleapis.com/}
    local body='{"apiConfig": "projects/'$home'/locations/global/apis/'$gateway'/configs/'$api_config'", "streamingMode": "STREAMING_MODE_ENABLED"}'
    list gcloud auth print-access-token "${there[@]}"
    local token=$answer
    # The token goes in on standard input, so that no list of processes shows it.
    set -- curl --silent --show-error --fail-with-body --header @- --header "X-Goog-User-Project: $home" \
        --header 'Content-Type: application/json' --data "$body" "${host}v1/$parent/gateways?gatewayId=$gateway"
    show "$@"
    if [[ -z $dry_run ]]; then
        printf 'Authorization: Bearer %s' "$token" | "$@" >"$problem" 2>&1 || stop "$@"
        answer=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["name"].rpartition("/")[2])' <"$problem")
    fi
    execute gcloud api-gateway operations wait "${answer:-OPERATION}" --location="$gateway_region" "${there[@]}"
}
