"""The tables of conversations, in the schema of their library.

Times are microseconds since 1970; texts are JSON strings in ASCII, which hold what Postgres refuses in text.
"""

VERSION = 2

TABLES = """
CREATE TABLE {schema}.conversations (
  key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest     bytea NOT NULL UNIQUE,             -- of user and name, which may be long for an index
  user_name  text COLLATE "C" NOT NULL,
  name       text COLLATE "C" NOT NULL,
  title      text NOT NULL DEFAULT '""',
  created_at bigint NOT NULL,
  used_at    bigint NOT NULL,
  results    text,                              -- what was found last, without texts; null for nothing
  hits       integer NOT NULL DEFAULT 0         -- in results
);
CREATE INDEX conversations_used ON {schema}.conversations (used_at);
CREATE INDEX conversations_of ON {schema}.conversations (user_name, used_at);

CREATE TABLE {schema}.conversation_messages (
  key          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversation bigint NOT NULL REFERENCES {schema}.conversations ON DELETE CASCADE,
  id           text COLLATE "C" NOT NULL UNIQUE,
  role         text NOT NULL,
  at           bigint NOT NULL,
  said         text NOT NULL,
  answer       text                             -- JSON of the answer without its text; null where it is none
);
CREATE INDEX conversation_messages_of ON {schema}.conversation_messages (conversation, key);

-- Which documents answers cite, and of which kept hits are.
CREATE TABLE {schema}.conversation_citations (
  document text COLLATE "C" NOT NULL,
  message  bigint NOT NULL REFERENCES {schema}.conversation_messages ON DELETE CASCADE,
  PRIMARY KEY (document, message)
);
CREATE INDEX conversation_citations_by ON {schema}.conversation_citations (message);

CREATE TABLE {schema}.conversation_hits (
  document     text COLLATE "C" NOT NULL,
  conversation bigint NOT NULL REFERENCES {schema}.conversations ON DELETE CASCADE,
  PRIMARY KEY (document, conversation)
);
CREATE INDEX conversation_hits_by ON {schema}.conversation_hits (conversation);
"""
