"""Stand-ins for services of Google Cloud: each speaks its service's wire protocol on this machine's loopback interface."""
