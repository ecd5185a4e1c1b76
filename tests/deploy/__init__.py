"""deploy.sh with the real gcloud, against a Google Cloud that is small and near."""
