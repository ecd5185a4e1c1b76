"""Tasks that outlive the request and the process that made them."""
