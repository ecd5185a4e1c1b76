"""What `shared.routes` stands on, and what stands on its table: rules, patterns, the file itself, who may use a route."""
