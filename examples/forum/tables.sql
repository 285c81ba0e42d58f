-- The tables of Discourse that a forum is read from, with all their columns as the annotations of its models have
-- them in 2025 (app/models/*.rb of discourse/discourse), and topic_custom_fields for what a forum of ours needs.
CREATE TABLE users (
  id serial PRIMARY KEY, username varchar(60) NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, name varchar, last_posted_at timestamp, active boolean DEFAULT false NOT NULL,
  username_lower varchar(60) NOT NULL UNIQUE, last_seen_at timestamp, admin boolean DEFAULT false NOT NULL,
  last_emailed_at timestamp, trust_level integer NOT NULL, approved boolean DEFAULT false NOT NULL,
  approved_by_id integer, approved_at timestamp, previous_visit_at timestamp, suspended_at timestamp,
  suspended_till timestamp, date_of_birth date, views integer DEFAULT 0 NOT NULL,
  flag_level integer DEFAULT 0 NOT NULL, ip_address inet, moderator boolean DEFAULT false, title varchar,
  uploaded_avatar_id integer, locale varchar(10), primary_group_id integer, registration_ip_address inet,
  staged boolean DEFAULT false NOT NULL, first_seen_at timestamp, silenced_till timestamp,
  group_locked_trust_level integer, manual_locked_trust_level integer, secure_identifier varchar UNIQUE,
  flair_group_id integer, last_seen_reviewable_id integer, required_fields_version integer,
  seen_notification_id bigint DEFAULT 0 NOT NULL, UNIQUE (username));
CREATE TABLE groups (
  id serial PRIMARY KEY, name varchar NOT NULL UNIQUE, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, automatic boolean DEFAULT false NOT NULL,
  user_count integer DEFAULT 0 NOT NULL, automatic_membership_email_domains text,
  primary_group boolean DEFAULT false NOT NULL, title varchar, grant_trust_level integer,
  incoming_email varchar UNIQUE, has_messages boolean DEFAULT false NOT NULL, flair_bg_color varchar,
  flair_color varchar, bio_raw text, bio_cooked text, allow_membership_requests boolean DEFAULT false NOT NULL,
  full_name varchar, default_notification_level integer DEFAULT 3 NOT NULL,
  visibility_level integer DEFAULT 0 NOT NULL, public_exit boolean DEFAULT false NOT NULL,
  public_admission boolean DEFAULT false NOT NULL, membership_request_template text,
  messageable_level integer DEFAULT 0, mentionable_level integer DEFAULT 0, smtp_server varchar,
  smtp_port integer, imap_server varchar, imap_port integer, imap_ssl boolean,
  imap_mailbox_name varchar DEFAULT '' NOT NULL, imap_uid_validity integer DEFAULT 0 NOT NULL,
  imap_last_uid integer DEFAULT 0 NOT NULL, email_username varchar, email_password varchar,
  publish_read_state boolean DEFAULT false NOT NULL, members_visibility_level integer DEFAULT 0 NOT NULL,
  imap_last_error text, imap_old_emails integer, imap_new_emails integer, flair_icon varchar,
  flair_upload_id integer, allow_unknown_sender_topic_replies boolean DEFAULT false NOT NULL,
  smtp_enabled boolean DEFAULT false, smtp_updated_at timestamp, smtp_updated_by_id integer,
  imap_enabled boolean DEFAULT false, imap_updated_at timestamp, imap_updated_by_id integer,
  email_from_alias varchar, smtp_ssl_mode integer DEFAULT 0 NOT NULL);
CREATE TABLE group_users (
  id serial PRIMARY KEY, group_id integer NOT NULL, user_id integer NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, owner boolean DEFAULT false NOT NULL,
  notification_level integer DEFAULT 2 NOT NULL, UNIQUE (group_id, user_id));
CREATE TABLE categories (
  id serial PRIMARY KEY, name varchar(50) NOT NULL, color varchar(6) DEFAULT '0088CC' NOT NULL,
  topic_id integer, topic_count integer DEFAULT 0 NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, user_id integer NOT NULL, topics_year integer DEFAULT 0,
  topics_month integer DEFAULT 0, topics_week integer DEFAULT 0, slug varchar NOT NULL, description text,
  text_color varchar(6) DEFAULT 'FFFFFF' NOT NULL, read_restricted boolean DEFAULT false NOT NULL,
  auto_close_hours double precision, post_count integer DEFAULT 0 NOT NULL, latest_post_id integer,
  latest_topic_id integer, position integer, parent_category_id integer, posts_year integer DEFAULT 0,
  posts_month integer DEFAULT 0, posts_week integer DEFAULT 0, email_in varchar UNIQUE,
  email_in_allow_strangers boolean DEFAULT false, topics_day integer DEFAULT 0, posts_day integer DEFAULT 0,
  allow_badges boolean DEFAULT true NOT NULL, name_lower varchar(50) NOT NULL,
  auto_close_based_on_last_post boolean DEFAULT false, topic_template text, contains_messages boolean,
  sort_order varchar, sort_ascending boolean, uploaded_logo_id integer, uploaded_background_id integer,
  topic_featured_link_allowed boolean DEFAULT true, all_topics_wiki boolean DEFAULT false NOT NULL,
  show_subcategory_list boolean DEFAULT false, num_featured_topics integer DEFAULT 3,
  default_view varchar(50), subcategory_list_style varchar(50) DEFAULT 'rows_with_featured_topics',
  default_top_period varchar(20) DEFAULT 'all', mailinglist_mirror boolean DEFAULT false NOT NULL,
  minimum_required_tags integer DEFAULT 0 NOT NULL,
  navigate_to_first_post_after_read boolean DEFAULT false NOT NULL, search_priority integer DEFAULT 0,
  allow_global_tags boolean DEFAULT false NOT NULL, reviewable_by_group_id integer, read_only_banner varchar,
  default_list_filter varchar(20) DEFAULT 'all',
  allow_unlimited_owner_edits_on_first_post boolean DEFAULT false NOT NULL, default_slow_mode_seconds integer,
  uploaded_logo_dark_id integer, uploaded_background_dark_id integer);
CREATE UNIQUE INDEX unique_index_categories_on_name ON categories (COALESCE(parent_category_id, -1), name);
CREATE TABLE category_groups (
  id serial PRIMARY KEY, category_id integer NOT NULL, group_id integer NOT NULL,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL, permission_type integer DEFAULT 1);
CREATE TABLE topics (
  id serial PRIMARY KEY, title varchar NOT NULL, last_posted_at timestamp, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, views integer DEFAULT 0 NOT NULL, posts_count integer DEFAULT 0 NOT NULL,
  user_id integer, last_post_user_id integer NOT NULL, reply_count integer DEFAULT 0 NOT NULL,
  featured_user1_id integer, featured_user2_id integer, featured_user3_id integer, deleted_at timestamp,
  highest_post_number integer DEFAULT 0 NOT NULL, like_count integer DEFAULT 0 NOT NULL,
  incoming_link_count integer DEFAULT 0 NOT NULL, category_id integer, visible boolean DEFAULT true NOT NULL,
  moderator_posts_count integer DEFAULT 0 NOT NULL, closed boolean DEFAULT false NOT NULL,
  archived boolean DEFAULT false NOT NULL, bumped_at timestamp NOT NULL,
  has_summary boolean DEFAULT false NOT NULL, archetype varchar DEFAULT 'regular' NOT NULL,
  featured_user4_id integer, notify_moderators_count integer DEFAULT 0 NOT NULL,
  spam_count integer DEFAULT 0 NOT NULL, pinned_at timestamp, score double precision,
  percent_rank double precision DEFAULT 1.0 NOT NULL, subtype varchar, slug varchar, deleted_by_id integer,
  participant_count integer DEFAULT 1, word_count integer, excerpt varchar,
  pinned_globally boolean DEFAULT false NOT NULL, pinned_until timestamp, fancy_title varchar,
  highest_staff_post_number integer DEFAULT 0 NOT NULL, featured_link varchar,
  reviewable_score double precision DEFAULT 0.0 NOT NULL, image_upload_id bigint,
  slow_mode_seconds integer DEFAULT 0 NOT NULL, bannered_until timestamp, external_id varchar,
  visibility_reason_id integer, locale varchar(20));
CREATE TABLE posts (
  id serial PRIMARY KEY, user_id integer, topic_id integer NOT NULL, post_number integer NOT NULL,
  raw text NOT NULL, cooked text NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
  reply_to_post_number integer, reply_count integer DEFAULT 0 NOT NULL, quote_count integer DEFAULT 0 NOT NULL,
  deleted_at timestamp, off_topic_count integer DEFAULT 0 NOT NULL, like_count integer DEFAULT 0 NOT NULL,
  incoming_link_count integer DEFAULT 0 NOT NULL, bookmark_count integer DEFAULT 0 NOT NULL,
  score double precision, reads integer DEFAULT 0 NOT NULL, post_type integer DEFAULT 1 NOT NULL,
  sort_order integer, last_editor_id integer, hidden boolean DEFAULT false NOT NULL, hidden_reason_id integer,
  notify_moderators_count integer DEFAULT 0 NOT NULL, spam_count integer DEFAULT 0 NOT NULL,
  illegal_count integer DEFAULT 0 NOT NULL, inappropriate_count integer DEFAULT 0 NOT NULL,
  last_version_at timestamp NOT NULL, user_deleted boolean DEFAULT false NOT NULL, reply_to_user_id integer,
  percent_rank double precision DEFAULT 1.0, notify_user_count integer DEFAULT 0 NOT NULL,
  like_score integer DEFAULT 0 NOT NULL, deleted_by_id integer, edit_reason varchar, word_count integer,
  version integer DEFAULT 1 NOT NULL, cook_method integer DEFAULT 1 NOT NULL,
  wiki boolean DEFAULT false NOT NULL, baked_at timestamp, baked_version integer, hidden_at timestamp,
  self_edits integer DEFAULT 0 NOT NULL, reply_quoted boolean DEFAULT false NOT NULL,
  via_email boolean DEFAULT false NOT NULL, raw_email text, public_version integer DEFAULT 1 NOT NULL,
  action_code varchar, locked_by_id integer, image_upload_id bigint, outbound_message_id varchar,
  UNIQUE (topic_id, post_number));
CREATE TABLE tags (
  id serial PRIMARY KEY, name varchar NOT NULL UNIQUE, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, pm_topic_count integer DEFAULT 0 NOT NULL, target_tag_id integer,
  description varchar(1000), public_topic_count integer DEFAULT 0 NOT NULL,
  staff_topic_count integer DEFAULT 0 NOT NULL);
CREATE TABLE topic_tags (
  id serial PRIMARY KEY, topic_id integer NOT NULL, tag_id integer NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, UNIQUE (topic_id, tag_id));
CREATE TABLE tag_groups (
  id serial PRIMARY KEY, name varchar(100) NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, parent_tag_id integer, one_per_topic boolean DEFAULT false);
CREATE TABLE tag_group_memberships (
  id serial PRIMARY KEY, tag_id integer NOT NULL, tag_group_id integer NOT NULL,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL, UNIQUE (tag_group_id, tag_id));
CREATE TABLE tag_group_permissions (
  id bigserial PRIMARY KEY, tag_group_id bigint NOT NULL, group_id bigint NOT NULL,
  permission_type integer DEFAULT 1 NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE topic_allowed_users (
  id serial PRIMARY KEY, user_id integer NOT NULL, topic_id integer NOT NULL, created_at timestamp NOT NULL,
  updated_at timestamp NOT NULL, UNIQUE (topic_id, user_id));
CREATE TABLE topic_allowed_groups (
  id serial PRIMARY KEY, group_id integer NOT NULL, topic_id integer NOT NULL, UNIQUE (group_id, topic_id));
CREATE TABLE site_settings (
  id serial PRIMARY KEY, name varchar NOT NULL, data_type integer NOT NULL, value text,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE topic_custom_fields (
  id serial PRIMARY KEY, topic_id integer NOT NULL, name varchar(256) NOT NULL, value text,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
