CREATE TABLE tasks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    number INTEGER NOT NULL,
    context_id TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    size INTEGER NOT NULL,
    snapshot_version INTEGER NOT NULL,
    snapshot_size INTEGER NOT NULL,
    role TEXT NOT NULL,
    request_key TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    holder TEXT NOT NULL,
    token TEXT NOT NULL,
    lease_until REAL NOT NULL,
    cancel_requested INTEGER NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    due_at REAL
);
CREATE UNIQUE INDEX tasks_by_number ON tasks (owner, number);
CREATE INDEX tasks_by_state ON tasks (owner, state, updated_at, id);
CREATE INDEX tasks_by_context ON tasks (owner, context_id, updated_at, id, state);
-- Not unique: a task that waited may go on beside one that was made meanwhile.
CREATE INDEX tasks_running ON tasks (owner, request_key, key) WHERE request_key <> '' AND due_at IS NOT NULL;
CREATE INDEX tasks_to_run ON tasks (role, due_at, key, id) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_ended ON tasks (ended_at) WHERE ended_at > 0;
-- An entry's rowid is its task's key * 2^24 + its sequence number: one tree, in which a log lies together.
CREATE TABLE entries (at INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE snapshots (key INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE work (key INTEGER PRIMARY KEY, body BLOB NOT NULL);
-- An index of 100,000 rows takes longer to count than a page may take to read.
CREATE TABLE counts (owner TEXT, state TEXT, tasks INTEGER NOT NULL, PRIMARY KEY (owner, state)) WITHOUT ROWID;
CREATE TABLE numbers (owner TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE pushes (
    at INTEGER PRIMARY KEY AUTOINCREMENT,
    key INTEGER NOT NULL,
    config_id TEXT NOT NULL,
    push BLOB NOT NULL,
    delivered INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    next_attempt_at REAL NOT NULL,
    dead TEXT NOT NULL,
    claimed_until REAL NOT NULL,
    behind INTEGER NOT NULL,
    UNIQUE (key, config_id)
);
CREATE INDEX pushes_behind ON pushes (next_attempt_at) WHERE behind = 1;
