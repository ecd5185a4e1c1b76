ALTER TABLE tasks ADD COLUMN not_before REAL NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN repeat_until REAL NOT NULL DEFAULT 0;
CREATE INDEX tasks_to_repeat ON tasks (owner, request_key, key) WHERE repeat_until > 0;
CREATE TABLE sizes (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO sizes SELECT owner, sum(size) FROM tasks GROUP BY owner;
CREATE TABLE context_counts (
    owner TEXT, context_id TEXT, tasks INTEGER NOT NULL, PRIMARY KEY (owner, context_id)
) WITHOUT ROWID;
INSERT INTO context_counts SELECT owner, context_id, count(*) FROM tasks GROUP BY 1, 2;
CREATE TABLE conversations (
    owner TEXT, context_id TEXT, data BLOB NOT NULL, expires_at REAL NOT NULL, PRIMARY KEY (owner, context_id)
);
CREATE INDEX conversations_by_expiry ON conversations (expires_at);
CREATE TABLE claims (
    counter TEXT, holder TEXT, amount INTEGER NOT NULL, expires_at REAL NOT NULL, PRIMARY KEY (counter, holder)
);
CREATE INDEX claims_by_expiry ON claims (expires_at);
