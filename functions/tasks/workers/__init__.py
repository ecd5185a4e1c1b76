"""The API of pull workers: leases, and the writes of those who hold one."""
