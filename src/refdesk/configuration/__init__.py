"""Pipelines as data: files, presets, and the schema that editors check them with.

- `loading`: a preset's name, a file, a text or a mapping to a `Pipeline`, with all that is wrong at once
- `building`, `standins`: entries to steps, with stand-ins for those that cannot be built
- `names`: the steps and implementations that a file may name
- `writing`: a `Pipeline` back to data
- `describing`: the options of a step in words
- `schema`: JSON Schema of pipeline files
- `presets/`: the pipelines that come with refdesk
"""

from refdesk.configuration.describing import Option, options_of, speakers
from refdesk.configuration.loading import (
    Checked,
    Source,
    check_pipeline,
    load_pipeline,
    pipeline_from_text,
    presets,
)
from refdesk.configuration.schema import json_schema
from refdesk.configuration.writing import shown_options, to_data, to_yaml

__all__ = [
    "Checked",
    "Option",
    "Source",
    "check_pipeline",
    "json_schema",
    "load_pipeline",
    "options_of",
    "pipeline_from_text",
    "presets",
    "shown_options",
    "speakers",
    "to_data",
    "to_yaml",
]
