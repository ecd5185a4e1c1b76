"""A2A 0.3: the only place that knows it. `to_core_*` reads a 0.3 JSON value into 1.0's; `to_compat_*` writes 1.0 as 0.3.

0.3 has two JSON forms: JSON-RPC's (told apart by `kind`, lower-case states) and HTTP+JSON's (its proto's JSON: `ROLE_USER`,
`content`). Reading accepts either; writing takes the binding. What `to_core_*` returns is the JSON of 1.0, which
`protojson.read` then checks: the rules of a field stand in one place.
"""
