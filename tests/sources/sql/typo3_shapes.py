"""The tables of TYPO3 12.4.45 and 13.4.34 that are read, column by column.

The facts are those of `ext_tables.sql` of the system extensions core, frontend and seo; of the rules of
core's `Classes/Database/Schema/DefaultTcaSchema.php` for what these leave out; and, for version 13, of
`Configuration/TCA/pages.php`, `tt_content.php`, `fe_groups.php` and `Overrides/*` that the rules are about.
A column is written as its name and kind, and `=` with its default where that is another than the kind's.
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    SmallInteger,
    String,
    Table,
    Text,
)
from sqlalchemy.dialects import mysql

RECORD = "uid id, pid uint, tstamp uint, crdate uint, deleted usmall, hidden usmall"
SHOWN = """starttime uint, endtime uint, fe_group s255=0, sorting int, rowDescription text, editlock usmall,
  sys_language_uid int, l10n_source uint, l10n_state text, t3ver_oid uint, t3ver_wsid uint, t3ver_state small,
  t3ver_stage int, categories uint"""
PERMISSIONS = """perms_userid uint, perms_groupid uint, perms_user utiny, perms_group utiny,
  perms_everybody utiny, SYS_LASTCHANGED uint, shortcut uint, content_from_pid uint, mount_pid uint"""
PAGES = f"{RECORD}, {SHOWN}, l10n_parent uint, l10n_diffsource blob, {PERMISSIONS}"
CONTENT = f"{RECORD}, {SHOWN}, l18n_parent uint, l18n_diffsource blob"

SHAPES = {
    12: {
        "pages": f"""{PAGES}, t3_origuid uint, title s255, slug n2048, doktype uint, TSconfig text,
          is_siteroot tiny, php_tree_stop tiny, url s255, shortcut_mode uint, subtitle s255, layout uint,
          target s80, media uint, keywords text, cache_timeout uint, cache_tags s255, description text,
          no_search utiny, abstract text, module s255, extendToSubpages utiny, author s255,
          author_email s255, nav_title s255, nav_hide tiny, mount_pid_ol tiny, l18n_cfg tiny,
          backend_layout s64, backend_layout_next_level s64, tsconfig_includes text, lastUpdated int,
          newUntil int, seo_title s255, no_index tiny, no_follow tiny, og_title s255, og_description text,
          og_image uint, twitter_title s255, twitter_description text, twitter_image uint, twitter_card s255,
          canonical_link s2048, sitemap_priority decimal=0.5, sitemap_changefreq s10""",
        "tt_content": f"""{CONTENT}, t3_origuid uint, CType s255, header s255, header_position s255,
          bodytext mediumtext, bullets_type utiny, uploads_description utiny, uploads_type utiny, assets uint,
          image uint, imagewidth uint, imageorient utiny, imagecols utiny, imageborder utiny, media uint,
          layout uint, frame_class s60=default, cols uint, space_before_class s60, space_after_class s60,
          records text, pages text, colPos uint, subheader s255, header_link s1024, image_zoom utiny,
          header_layout s30=0, list_type s255, sectionIndex utiny, linkToTop utiny, file_collections text,
          filelink_size utiny, filelink_sorting s64, filelink_sorting_direction s4, target s30,
          recursive utiny, imageheight uint, pi_flexform mediumtext, accessibility_title s30,
          accessibility_bypass utiny, accessibility_bypass_text s30, category_field s64,
          selected_categories text, table_class s60, table_caption n255, table_delimiter usmall,
          table_enclosure usmall, table_header_position utiny, table_tfoot utiny, date int""",
        "fe_groups": f"{RECORD}, description text, title s50, subgroup text, TSconfig text",
    },
    13: {
        "pages": f"""{PAGES}, title s255, slug text, doktype uint, TSconfig longtext, is_siteroot usmall,
          php_tree_stop usmall, url s255, shortcut_mode uint, subtitle s255, layout uint, target s80,
          media uint, keywords longtext, cache_timeout uint, cache_tags s255, description longtext,
          no_search usmall, abstract longtext, module s255, extendToSubpages usmall, author s255,
          author_email s255, nav_title s255, nav_hide usmall, mount_pid_ol small, l18n_cfg usmall,
          backend_layout s64, backend_layout_next_level s64, tsconfig_includes n255, lastUpdated big,
          newUntil big, seo_title s255, no_index usmall, no_follow usmall, og_title s255,
          og_description longtext, og_image uint, twitter_title s255, twitter_description longtext,
          twitter_image uint, twitter_card s255, canonical_link needed, sitemap_priority decimal=0.5,
          sitemap_changefreq s10""",
        "tt_content": f"""{CONTENT}, CType s255, header s255, header_position s255, bodytext longtext,
          bullets_type uint, uploads_description usmall, uploads_type uint, assets uint, image uint,
          imagewidth uint, imageorient uint, imagecols uint, imageborder usmall, media uint, layout uint,
          frame_class s60=default, cols uint, space_before_class s60, space_after_class s60, records longtext,
          pages longtext, colPos uint, subheader s255, header_link needed, image_zoom usmall,
          header_layout uint, list_type s255, sectionIndex usmall=1, linkToTop usmall,
          file_collections longtext, filelink_size usmall, filelink_sorting s64,
          filelink_sorting_direction s4, target s30, recursive uint, imageheight uint, pi_flexform longtext,
          category_field s64, selected_categories longtext, table_class s60, table_caption n255,
          table_delimiter uint, table_enclosure uint, table_header_position uint, table_tfoot usmall,
          date big""",
        "fe_groups": f"{RECORD}, description text, title s50, subgroup n255",
    },
}
NUMBERS: dict[str, Any] = {
    "uint": Integer().with_variant(mysql.INTEGER(unsigned=True), "mysql"),
    "int": Integer(),
    "usmall": SmallInteger().with_variant(mysql.SMALLINT(unsigned=True), "mysql"),
    "small": SmallInteger(),
    "utiny": SmallInteger().with_variant(mysql.TINYINT(unsigned=True), "mysql"),
    "tiny": SmallInteger().with_variant(mysql.TINYINT(), "mysql"),
    "big": BigInteger(),
    "decimal": Numeric(2, 1),
}
TEXTS: dict[str, Any] = {
    "text": Text(),
    "mediumtext": Text().with_variant(mysql.MEDIUMTEXT(), "mysql"),
    "longtext": Text().with_variant(mysql.LONGTEXT(), "mysql"),
    "blob": LargeBinary().with_variant(mysql.MEDIUMBLOB(), "mysql"),
}


def tables(version: int) -> MetaData:
    """Return the tables of a version."""
    made = MetaData()
    for name, columns in SHAPES[version].items():
        Table(name, made, *_columns(columns))
    return made


def _columns(written: str) -> Iterator[Column[Any]]:
    for one in written.split(","):
        name, kind = one.split()
        kind, _, default = kind.partition("=")
        if kind == "id":
            yield Column(name, NUMBERS["uint"], primary_key=True, autoincrement=True)
        elif kind in NUMBERS:
            yield Column(name, NUMBERS[kind], nullable=False, server_default=default or "0")
        elif kind in TEXTS:
            yield Column(name, TEXTS[kind])
        elif kind == "needed":
            yield Column(name, Text(), nullable=False, server_default="")
        else:
            empty = kind[0] == "n"
            yield Column(
                name, String(int(kind[1:])), nullable=empty, server_default=None if empty else default
            )
