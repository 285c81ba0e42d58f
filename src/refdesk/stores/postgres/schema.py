"""The tables of a library in Postgres, all in one schema of their own.

Versions by hand, since a reader has no end and holds no connection: rows carry `born` and `died`, numbers of
the collection's `generation`. A reader notes the generation g when it is opened and sees the rows with
`born <= g AND (died IS NULL OR died > g)`. What died long ago is removed by `optimise`.
Rows of chunks never change, since each change would put their vector into its index again: those that died
are in a table beside them.

Columns whose text may hold a NUL, which Postgres refuses, keep it as `texts.escaped` writes it; that keeps
order and equality. JSON escapes it by itself.
"""

VERSION = 1

FIRST = """
CREATE TABLE {schema}.collections (
  key         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text COLLATE "C" UNIQUE,          -- null once dropped, until no reader can hold it
  description text NOT NULL,
  generation  bigint NOT NULL DEFAULT 0,        -- counts the writes; the newest is what a reader sees
  chunk_set   bigint,                           -- null until something is stored
  dropped_at  timestamptz
);

-- The chunks of a collection in one embedding space. Each set has tables of its own, `chunks_<key>`,
-- `dead_<key>` and `postings_<key>`, made by `make_chunks` and dropped by `drop_chunks`.
CREATE TABLE {schema}.chunk_sets (
  key         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  collection  bigint NOT NULL REFERENCES {schema}.collections ON DELETE CASCADE,
  state       text NOT NULL CHECK (state IN ('current', 'successor', 'left')),
  fingerprint text NOT NULL,
  dimension   integer NOT NULL,
  recipe      text NOT NULL DEFAULT '',         -- of a successor: how its chunks are made
  next_id     integer NOT NULL DEFAULT 1,       -- ids of chunks ascend; those of a write are this and above
  left_at     timestamptz                       -- when it was replaced or given up
);
CREATE UNIQUE INDEX chunk_sets_one_each ON {schema}.chunk_sets (collection, state) WHERE state <> 'left';
ALTER TABLE {schema}.collections ADD FOREIGN KEY (chunk_set) REFERENCES {schema}.chunk_sets;

-- When each generation was published: tells what no reader can hold any more.
CREATE TABLE {schema}.publications (
  collection bigint NOT NULL REFERENCES {schema}.collections ON DELETE CASCADE,
  generation bigint NOT NULL,
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (collection, generation)
);

-- The identity of a document; it stays when its text is replaced.
CREATE TABLE {schema}.documents (
  key         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  collection  bigint NOT NULL REFERENCES {schema}.collections ON DELETE CASCADE,
  source_id   text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  UNIQUE (collection, document_id)
);
-- Of the beginning only: an index takes no long values.
CREATE INDEX documents_in_order ON {schema}.documents (collection, left(source_id, 200));

-- What is known of a document, a row per version.
CREATE TABLE {schema}.records (
  key        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  document   bigint NOT NULL REFERENCES {schema}.documents ON DELETE CASCADE,
  collection bigint NOT NULL,                   -- of the document, to count without a join
  born       bigint NOT NULL,
  died       bigint,
  title      text COLLATE "C" NOT NULL,
  url        text COLLATE "C",
  media_type text COLLATE "C" NOT NULL,
  language   text COLLATE "C" NOT NULL,
  metadata   text NOT NULL,                     -- JSON, as `stores.metadata.dump` writes it
  acl        text[] COLLATE "C" NOT NULL,
  digest     text NOT NULL,
  pages      text NOT NULL,                     -- JSON: [number, start, end]
  headings   text NOT NULL,                     -- JSON: [level, title, start]
  warnings   text NOT NULL,                     -- JSON
  characters integer NOT NULL,
  page_count integer NOT NULL,
  chunks     integer NOT NULL,
  tokens     bigint NOT NULL,                   -- of all its chunks
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX records_current ON {schema}.records (document) WHERE died IS NULL;
CREATE INDEX records_of_document ON {schema}.records (document);
CREATE INDEX records_counted ON {schema}.records (collection) INCLUDE (born, died, language, chunks, tokens);
CREATE INDEX records_dead ON {schema}.records (collection, died) WHERE died IS NOT NULL;

CREATE TABLE {schema}.texts (
  document bigint NOT NULL REFERENCES {schema}.documents ON DELETE CASCADE,
  born     bigint NOT NULL,
  died     bigint,
  text     bytea NOT NULL,                      -- UTF-8, deflated
  PRIMARY KEY (document, born)
);
ALTER TABLE {schema}.texts ALTER COLUMN text SET STORAGE EXTERNAL;
CREATE INDEX texts_dead ON {schema}.texts (document, died) WHERE died IS NOT NULL;

-- Metadata as filters see it: a row per value. `kind` as in `refdesk.filters.Typed`, or `empty` for an empty
-- list. Text in `value_text`; number, bool and date in `value_number`; the other is null.
CREATE TABLE {schema}.facts (
  record       bigint NOT NULL REFERENCES {schema}.records ON DELETE CASCADE,
  key          text COLLATE "C" NOT NULL,
  kind         text COLLATE "C" NOT NULL,
  value_text   text COLLATE "C",
  value_number numeric
);
CREATE INDEX facts_of_record ON {schema}.facts (record);
CREATE INDEX facts_by_text ON {schema}.facts (left(key, 100), left(value_text, 100)) WHERE kind = 'text';
CREATE INDEX facts_by_number ON {schema}.facts (left(key, 100), kind, value_number) WHERE kind <> 'text';

-- Documents whose chunks have been made anew, and what is then to be known of them. One that is replaced or
-- deleted meanwhile loses its row.
CREATE TABLE {schema}.remade (
  document  bigint PRIMARY KEY REFERENCES {schema}.documents ON DELETE CASCADE,
  chunk_set bigint NOT NULL REFERENCES {schema}.chunk_sets ON DELETE CASCADE,
  digest    text NOT NULL,
  chunks    integer NOT NULL,
  tokens    bigint NOT NULL
);
CREATE INDEX remade_by ON {schema}.remade (chunk_set);

CREATE TABLE {schema}.cursors (
  collection bigint NOT NULL REFERENCES {schema}.collections ON DELETE CASCADE,
  source     text COLLATE "C" NOT NULL,
  cursor     text NOT NULL,                     -- how far a followed source has been read
  PRIMARY KEY (collection, source)
);

CREATE TABLE {schema}.failures (
  collection  bigint NOT NULL REFERENCES {schema}.collections ON DELETE CASCADE,
  document_id text COLLATE "C" NOT NULL,        -- of the source: its id may be too long for an index
  source_id   text COLLATE "C" NOT NULL,
  reason      text NOT NULL,
  message     text NOT NULL,
  PRIMARY KEY (collection, document_id)
);
"""

FUNCTIONS = """
-- These three run as their owner, so that who writes needs no right to create or drop anything. They take
-- numbers only. Who may use `documents` may use a new set's tables in the same way.
CREATE OR REPLACE FUNCTION {schema}.make_chunks(set_key bigint, dimension integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  chunks   text := format('%I.%I', {schema_name}, 'chunks_' || set_key);
  dead     text := format('%I.%I', {schema_name}, 'dead_' || set_key);
  postings text := format('%I.%I', {schema_name}, 'postings_' || set_key);
  granted  record;
BEGIN
  EXECUTE format('CREATE TABLE %s (
    id                 integer PRIMARY KEY,
    document           bigint NOT NULL,
    born               bigint NOT NULL,
    chunk_id           text COLLATE "C" NOT NULL,
    position           integer NOT NULL,
    start_at           integer NOT NULL,
    end_at             integer NOT NULL,
    page               integer,
    text               text NOT NULL,
    heading_path       text[] NOT NULL,
    length             integer NOT NULL,
    vector             %I.vector(%s) NOT NULL,
    token_vectors      bytea,
    token_vector_count integer,
    strategy           text COLLATE "C",
    digest             bytea
  )', chunks, {vector_name}, dimension);
  EXECUTE format('ALTER TABLE %s ALTER COLUMN token_vectors SET STORAGE EXTERNAL', chunks);
  EXECUTE format('CREATE INDEX ON %s (document, position)', chunks);
  EXECUTE format('CREATE INDEX ON %s (chunk_id)', chunks);
  EXECUTE format('CREATE TABLE %s (id integer PRIMARY KEY, died bigint NOT NULL)', dead);
  EXECUTE format('CREATE TABLE %s (
    term    text COLLATE "C" NOT NULL,
    block   integer NOT NULL,
    ids     integer[] NOT NULL,
    tfs     integer[] NOT NULL,
    lengths integer[] NOT NULL,
    PRIMARY KEY (term, block)
  )', postings);
  FOR granted IN
    SELECT a.grantee, a.privilege_type AS may
    FROM pg_class AS c, aclexplode(c.relacl) AS a
    WHERE c.oid = format('%I.documents', {schema_name})::regclass AND a.grantee <> c.relowner
  LOOP
    EXECUTE format('GRANT %s ON %s, %s, %s TO %s', granted.may, chunks, dead, postings,
      CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE granted.grantee::regrole::text END);
  END LOOP;
END $body$;

-- Bring the statistics up to date and, where asked, make the index for vectors, in half precision,
-- which is smaller: exact scores follow. None above 4,000 dimensions, which pgvector does not take.
-- `renewed` makes it anew beside the old one: taking many rows out of that takes longer.
CREATE OR REPLACE FUNCTION {schema}.tend_chunks(
  set_key bigint, dimension integer, indexed boolean, renewed boolean DEFAULT false
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
  chunks text := format('%I.%I', {schema_name}, 'chunks_' || set_key);
  named  text := 'chunks_' || set_key || '_by_vector';
BEGIN
  IF renewed THEN
    EXECUTE format('ALTER INDEX IF EXISTS %I.%I RENAME TO %I', {schema_name}, named, named || '_old');
  END IF;
  IF indexed AND dimension <= 4000 THEN
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %s
      USING hnsw ((vector::%I.halfvec(%s)) %I.halfvec_ip_ops) WITH (m = 16, ef_construction = 128)',
      named, chunks, {vector_name}, dimension, {vector_name});
  END IF;
  EXECUTE format('DROP INDEX IF EXISTS %I.%I', {schema_name}, named || '_old');
  EXECUTE format('ANALYZE %s', chunks);
END $body$;

CREATE OR REPLACE FUNCTION {schema}.drop_chunks(set_key bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS %I.%I', {schema_name}, 'chunks_' || set_key);
  EXECUTE format('DROP TABLE IF EXISTS %I.%I', {schema_name}, 'dead_' || set_key);
  EXECUTE format('DROP TABLE IF EXISTS %I.%I', {schema_name}, 'postings_' || set_key);
END $body$;

REVOKE ALL ON FUNCTION {schema}.make_chunks, {schema}.tend_chunks, {schema}.drop_chunks FROM PUBLIC;
"""
"""Made, or made anew, after each change of the tables."""

LATER = 3
CHANGES = """
DO $body$
DECLARE
  named text;
BEGIN
  FOR named IN
    SELECT indexname FROM pg_indexes
    WHERE schemaname = {schema_name} AND indexname ~ '^chunks_[0-9]+_by_vector$'
  LOOP
    EXECUTE format('DROP INDEX %I.%I', {schema_name}, named);
  END LOOP;
  FOR named IN
    SELECT tablename FROM pg_tables WHERE schemaname = {schema_name} AND tablename ~ '^chunks_[0-9]+$'
  LOOP
    EXECUTE format('ALTER TABLE %I.%I ADD strategy text COLLATE "C", ADD digest bytea', {schema_name}, named);
  END LOOP;
END $body$;
"""
"""Indexes in full precision go, and the next `optimise` makes those in half; chunks say what was embedded."""
