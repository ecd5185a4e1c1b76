"""HTTP in and out: requests and answers as plain values, the adapter to Flask, dispatch, and a client."""
