"""What runs do, for logs, metrics and traces.

- `handlers`: functions that are called for the events that their pattern names
- `otel` (extra `otel`): OpenTelemetry spans with the conventions for generative AI
"""

from refdesk.telemetry.handlers import Handle, Record, attach, detach, tell

__all__ = ["Handle", "Record", "attach", "detach", "tell"]
