-- The tables of Discourse that a forum is read from, with their most used columns.
CREATE TABLE users (
  id serial PRIMARY KEY, username varchar(60) NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, name varchar, active boolean DEFAULT false NOT NULL,
  username_lower varchar(60) NOT NULL, admin boolean DEFAULT false NOT NULL,
  moderator boolean DEFAULT false, trust_level integer NOT NULL DEFAULT 1,
  staged boolean DEFAULT false NOT NULL);
CREATE TABLE groups (
  id serial PRIMARY KEY, name varchar NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
  automatic boolean DEFAULT false NOT NULL, user_count integer DEFAULT 0 NOT NULL,
  visibility_level integer DEFAULT 0 NOT NULL, full_name varchar);
CREATE TABLE group_users (
  id serial PRIMARY KEY, group_id integer NOT NULL, user_id integer NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, owner boolean DEFAULT false NOT NULL);
CREATE TABLE categories (
  id serial PRIMARY KEY, name varchar(50) NOT NULL, color varchar(6) DEFAULT '0088CC' NOT NULL,
  topic_id integer,
  topic_count integer DEFAULT 0 NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
  user_id integer NOT NULL, slug varchar NOT NULL, description text,
  read_restricted boolean DEFAULT false NOT NULL,
  parent_category_id integer, position integer, name_lower varchar(50) NOT NULL);
CREATE TABLE category_groups (
  id serial PRIMARY KEY, category_id integer NOT NULL, group_id integer NOT NULL,
  created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, permission_type integer DEFAULT 1);
CREATE TABLE topics (
  id serial PRIMARY KEY, title varchar NOT NULL, last_posted_at timestamp, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, views integer DEFAULT 0 NOT NULL, posts_count integer DEFAULT 0 NOT NULL,
  user_id integer, last_post_user_id integer NOT NULL, reply_count integer DEFAULT 0 NOT NULL,
  deleted_at timestamp, highest_post_number integer DEFAULT 0 NOT NULL, like_count integer DEFAULT 0 NOT NULL,
  category_id integer, visible boolean DEFAULT true NOT NULL, closed boolean DEFAULT false NOT NULL,
  archived boolean DEFAULT false NOT NULL, bumped_at timestamp NOT NULL,
  archetype varchar DEFAULT 'regular' NOT NULL, subtype varchar, slug varchar, deleted_by_id integer,
  fancy_title varchar);
CREATE TABLE posts (
  id serial PRIMARY KEY, user_id integer, topic_id integer NOT NULL, post_number integer NOT NULL,
  raw text NOT NULL,
  cooked text NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
  reply_to_post_number integer,
  reply_count integer DEFAULT 0 NOT NULL, deleted_at timestamp, like_count integer DEFAULT 0 NOT NULL,
  post_type integer DEFAULT 1 NOT NULL, sort_order integer, last_editor_id integer,
  hidden boolean DEFAULT false NOT NULL, hidden_reason_id integer, last_version_at timestamp NOT NULL,
  user_deleted boolean DEFAULT false NOT NULL, deleted_by_id integer, word_count integer,
  version integer DEFAULT 1 NOT NULL, cook_method integer DEFAULT 1 NOT NULL,
  wiki boolean DEFAULT false NOT NULL,
  baked_at timestamp, baked_version integer, hidden_at timestamp, UNIQUE (topic_id, post_number));
CREATE TABLE tags (
  id serial PRIMARY KEY, name varchar NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
  pm_topic_count integer DEFAULT 0 NOT NULL, target_tag_id integer, description varchar(1000),
  public_topic_count integer DEFAULT 0 NOT NULL, staff_topic_count integer DEFAULT 0 NOT NULL);
CREATE TABLE topic_tags (
  id serial PRIMARY KEY, topic_id integer NOT NULL, tag_id integer NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, UNIQUE (topic_id, tag_id));
CREATE TABLE tag_groups (
  id serial PRIMARY KEY, name varchar NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE tag_group_memberships (
  id serial PRIMARY KEY, tag_id integer NOT NULL, tag_group_id integer NOT NULL,
  created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL);
CREATE TABLE tag_group_permissions (
  id bigserial PRIMARY KEY, tag_group_id bigint NOT NULL, group_id bigint NOT NULL,
  permission_type integer DEFAULT 1 NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE topic_allowed_users (
  id serial PRIMARY KEY, user_id integer NOT NULL, topic_id integer NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL);
CREATE TABLE topic_allowed_groups (id serial PRIMARY KEY, group_id integer NOT NULL,
  topic_id integer NOT NULL);
CREATE TABLE site_settings (
  id serial PRIMARY KEY, name varchar NOT NULL, data_type integer NOT NULL, value text,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE topic_custom_fields (
  id serial PRIMARY KEY, topic_id integer NOT NULL, name varchar(256) NOT NULL, value text,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
