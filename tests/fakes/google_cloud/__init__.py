"""The Google Cloud APIs that a deployment calls, on one port: the real gcloud reaches them as its HTTP proxy.

gcloud puts the region in front of an endpoint's host (asia-northeast1-run.…), so that an address with a port is not enough;
with a proxy any host is. Only what `deploy.sh` needs is there. Every change is recorded, and a failure can be put in its way.
"""
