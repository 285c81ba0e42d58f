-- Conversations of a library. Times are microseconds since 1970; texts are JSON strings.

CREATE TABLE conversations (
  key        INTEGER PRIMARY KEY AUTOINCREMENT,
  user       TEXT NOT NULL,
  name       TEXT NOT NULL,
  title      TEXT NOT NULL DEFAULT '""',
  created_at INTEGER NOT NULL,
  used_at    INTEGER NOT NULL,
  results    TEXT,                          -- what was found last, without texts; null for nothing
  hits       INTEGER NOT NULL DEFAULT 0,    -- in results
  UNIQUE (user, name)
);
CREATE INDEX conversations_used ON conversations (used_at);
CREATE INDEX conversations_of ON conversations (user, used_at);

CREATE TABLE messages (
  key          INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
  id           TEXT NOT NULL UNIQUE,
  role         TEXT NOT NULL,
  at           INTEGER NOT NULL,
  text         TEXT NOT NULL,
  answer       TEXT                         -- JSON of the answer without its text; null where it is none
);
CREATE INDEX messages_of ON messages (conversation, key);

-- Which documents answers cite, and of which kept hits are.
CREATE TABLE cited (
  document TEXT NOT NULL,
  message  INTEGER NOT NULL REFERENCES messages ON DELETE CASCADE,
  PRIMARY KEY (document, message)
) WITHOUT ROWID;
CREATE INDEX cited_by ON cited (message);

CREATE TABLE kept (
  document     TEXT NOT NULL,
  conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
  PRIMARY KEY (document, conversation)
) WITHOUT ROWID;
CREATE INDEX kept_by ON kept (conversation);
