"""HTTP in and out: requests and answers as plain values, the way in through Flask, and a client for the way out."""
