"""Pipelines as data: files, presets, and the schema that editors check them with.

- `loading`: a preset's name, a file or a mapping to a `Pipeline`, with all that is wrong at once
- `reading`: YAML to plain values with their lines; nothing in it can run code or grow without bound
- `building`: entries to steps, with placeholders for those that cannot be built
- `names`: the steps and implementations that a file may name
- `writing`: a `Pipeline` back to data
- `schema`: JSON Schema of pipeline files
- `presets/`: the pipelines that come with refdesk
"""

from refdesk.configuration.loading import load_pipeline, presets
from refdesk.configuration.schema import json_schema
from refdesk.configuration.writing import to_data, to_yaml

__all__ = ["json_schema", "load_pipeline", "presets", "to_data", "to_yaml"]
