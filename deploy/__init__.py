"""The Python part of `deploy.sh`: settings checked, values rendered, failures explained."""
