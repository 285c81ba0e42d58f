"""Databases whose tables are known.

- `discourse`: posts of a Discourse forum
- `typo3`: pages and content elements of a TYPO3 site
"""

from collections.abc import Mapping

PRESETS: Mapping[str, str] = {
    "discourse": "refdesk.sources.sql.presets.discourse:Discourse",
    "typo3": "refdesk.sources.sql.presets.typo3:Typo3",
}
"""Name to `module:class`; see `refdesk.sources.sql.plan.Preset`."""
