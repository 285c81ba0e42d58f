-- The control plane of a library. What is not written here is not stored, whatever the chunk files hold.

CREATE TABLE collections (
  key         INTEGER PRIMARY KEY AUTOINCREMENT,
  name        TEXT UNIQUE,                 -- null for a successor
  description TEXT NOT NULL,
  folder      TEXT NOT NULL UNIQUE,        -- of its chunks, below `chunks/`
  fingerprint TEXT NOT NULL DEFAULT '',    -- the embedding space; empty until something is stored
  dimension   INTEGER NOT NULL DEFAULT 0,
  version     INTEGER NOT NULL DEFAULT 0,  -- the published version of the chunks; 0 before the first
  exact       INTEGER NOT NULL DEFAULT -1, -- the version at which the text index knew all rows and no others
  generation  INTEGER NOT NULL DEFAULT 0,  -- counts the writes
  -- A successor holds the chunks of a collection that are made anew; the documents stay with the collection.
  successor_of INTEGER UNIQUE REFERENCES collections ON DELETE CASCADE,
  recipe       TEXT NOT NULL DEFAULT ''    -- of a successor: how its chunks are made
);

-- Who may read: documents with the same ACL point to one row, whose principals are also rows of `readers`.
CREATE TABLE acls (
  key        INTEGER PRIMARY KEY,
  principals TEXT NOT NULL UNIQUE          -- JSON, in the order given
);
CREATE TABLE readers (
  principal TEXT NOT NULL,
  acl       INTEGER NOT NULL REFERENCES acls ON DELETE CASCADE,
  PRIMARY KEY (principal, acl)
) WITHOUT ROWID;
CREATE INDEX readers_of ON readers (acl);

CREATE TABLE documents (
  key         INTEGER PRIMARY KEY AUTOINCREMENT,
  collection  INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
  source_id   TEXT NOT NULL,
  document_id TEXT NOT NULL UNIQUE,
  title       TEXT NOT NULL,
  url         TEXT,
  media_type  TEXT NOT NULL,
  language    TEXT NOT NULL,
  metadata    TEXT NOT NULL,               -- JSON
  digest      TEXT NOT NULL,
  pages       TEXT NOT NULL,               -- JSON: [number, start, end]
  headings    TEXT NOT NULL,               -- JSON: [level, title, start]
  warnings    TEXT NOT NULL,               -- JSON
  characters  INTEGER NOT NULL,
  page_count  INTEGER NOT NULL,
  chunks      INTEGER NOT NULL,
  tokens      INTEGER NOT NULL,            -- of all its chunks
  updated_at  TEXT NOT NULL,
  acl         INTEGER NOT NULL REFERENCES acls,
  UNIQUE (collection, source_id)
);
-- Opening a reader counts the documents of its scope: from this alone, since their rows are long.
CREATE INDEX documents_counted ON documents (collection, language, acl, chunks, tokens);
CREATE INDEX documents_of_acl ON documents (acl, collection);

CREATE TABLE texts (
  document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  text     BLOB NOT NULL                   -- UTF-8, deflated
);

-- Documents whose chunks have been made anew, and what is then to be known of them. One that is replaced or
-- deleted meanwhile loses its row with the old state.
CREATE TABLE remade (
  document  INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  successor INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
  digest    TEXT NOT NULL,
  chunks    INTEGER NOT NULL,
  tokens    INTEGER NOT NULL
);
CREATE INDEX remade_by ON remade (successor);

-- Metadata as filters see it: one row per value, `kind` and `value` as in `refdesk.filters.Typed`.
CREATE TABLE facts (
  key      TEXT NOT NULL,
  kind     TEXT NOT NULL,
  value             NOT NULL,
  document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  PRIMARY KEY (key, kind, value, document)
) WITHOUT ROWID;
CREATE INDEX facts_of_document ON facts (document);

-- In how many chunks of a collection each token is: exact BM25 needs it, whatever state the text index is in.
CREATE TABLE terms (
  collection INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
  term       TEXT NOT NULL,
  chunks     INTEGER NOT NULL,
  PRIMARY KEY (collection, term)
) WITHOUT ROWID;

CREATE TABLE failures (
  collection INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
  source_id  TEXT NOT NULL,
  reason     TEXT NOT NULL,
  message    TEXT NOT NULL,
  PRIMARY KEY (collection, source_id)
) WITHOUT ROWID;

-- How far followed sources have been read, in words of their own.
CREATE TABLE cursors (
  collection INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
  source     TEXT NOT NULL,
  cursor     TEXT NOT NULL,
  PRIMARY KEY (collection, source)
) WITHOUT ROWID;

-- Chunk versions that readers may still hold, and whole folders (version 0).
CREATE TABLE superseded (
  folder  TEXT NOT NULL,
  version INTEGER NOT NULL,
  at      REAL NOT NULL,                   -- seconds since 1970
  PRIMARY KEY (folder, version)
) WITHOUT ROWID;
