"""What `deploy.sh` asks Python for: settings checked, values rendered, failures explained."""
