"""OpenTelemetry spans of runs, steps and model requests (extra `otel`).

Names and attributes of model requests (`chat MODEL`) and tools (`execute_tool NAME`) follow the semantic
conventions for generative AI, which are still in development:
https://github.com/open-telemetry/semantic-conventions-genai. Parents are given explicitly and nothing is
attached to the current context, so spans are right whichever task an event comes from.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from refdesk.context import Measure, Usage
from refdesk.errors import ToolError
from refdesk.events import (
    Event,
    ModelCalled,
    RunFinished,
    RunStarted,
    Sink,
    StepFailed,
    StepFinished,
    StepStarted,
    ToolStarted,
)
from refdesk.plugins import load_extra
from refdesk.telemetry.texts import as_text, is_text

RUN_ID, PATH, KIND, OUTCOME = "refdesk.run.id", "refdesk.step.path", "refdesk.step.kind", "refdesk.outcome"
Key = tuple[str, tuple[str, ...]]


def spans(tracer_provider: Any = None, *, texts: bool = False) -> Sink:
    """Return a listener that makes spans, with the given tracer provider or the global one.

    Queries and other texts become attributes only with `texts`. Errors: `MissingExtra`.
    """
    trace = load_extra("opentelemetry.trace", "otel")
    tracer = trace.get_tracer("refdesk", tracer_provider=tracer_provider)
    return _Spans(trace, tracer, texts).take


class _Spans:
    """The open spans by run and path; a run's is at the empty path."""

    def __init__(self, trace: Any, tracer: Any, texts: bool) -> None:
        self._trace = trace
        self._tracer = tracer
        self._texts = texts
        self._open: dict[Key, Any] = {}
        self._calls: dict[Key, list[ToolStarted]] = {}
        """Calls by their loop, until the part that runs them begins, which is at once."""

    def take(self, event: Event) -> None:
        actions: dict[type, Callable[[Any], None]] = {
            RunStarted: self._run_started,
            RunFinished: self._run_finished,
            StepStarted: self._step_started,
            StepFinished: self._step_ended,
            StepFailed: self._step_ended,
            ModelCalled: self._called,
            ToolStarted: self._tool_called,
        }
        if action := actions.get(type(event)):
            action(event)

    def _run_started(self, event: RunStarted) -> None:
        attributes = {RUN_ID: event.run_id, "refdesk.pipeline": event.pipeline}
        self._begin((event.run_id, ()), f"refdesk {event.pipeline}".rstrip(), attributes)

    def _run_finished(self, event: RunFinished) -> None:
        self._end((event.run_id, ()), event.outcome, event.error, _tokens(event.usage))

    def _step_started(self, event: StepStarted) -> None:
        attributes = {RUN_ID: event.run_id, PATH: event.path, KIND: event.kind}
        name = event.path[-1]
        if event.kind == "tool":
            tool = self._tool(event)
            name, attributes = f"execute_tool {tool['gen_ai.tool.name']}", attributes | tool
        self._begin((event.run_id, event.path), name, attributes | self._attributes(event.facts))

    def _step_ended(self, event: StepFinished | StepFailed) -> None:
        error = event.error if isinstance(event, StepFailed) else None
        if event.kind == "tool" and event.measures.get("outcome") == "error":
            error = ToolError("")  # the run goes on, but the tool failed
        self._calls.pop((event.run_id, event.path), None)
        self._end((event.run_id, event.path), event.outcome, error, self._attributes(event.measures))

    def _tool_called(self, event: ToolStarted) -> None:
        self._calls.setdefault((event.run_id, event.path), []).append(event)

    def _tool(self, event: StepStarted) -> dict[str, Any]:
        """Return the attributes of a tool that begins."""
        waiting = self._calls.get((event.run_id, event.path[:-2]), [])
        call = next((one for one in waiting if _is_of(one.tool, event.path[-1])), None)
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
        if call is None:
            return {**attributes, "gen_ai.tool.name": event.path[-1]}
        waiting.remove(call)
        attributes["gen_ai.tool.name"] = call.tool
        if call.call_id:
            attributes["gen_ai.tool.call.id"] = call.call_id
        if self._texts:
            attributes["gen_ai.tool.call.arguments"] = as_text(call.arguments)
        return attributes

    def _called(self, event: ModelCalled) -> None:
        ended = time.time_ns()
        attributes = {
            RUN_ID: event.run_id,
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": event.model.partition(":")[0],
            "gen_ai.request.model": event.model.partition(":")[2] or event.model,
            **_tokens(event.usage),
        }
        span = self._tracer.start_span(
            f"chat {attributes['gen_ai.request.model']}",
            context=self._parent((event.run_id, (*event.path, ""))),
            kind=self._trace.SpanKind.CLIENT,
            attributes=attributes,
            start_time=ended - int(event.seconds * 1e9),
        )
        self._close(span, event.error, ended)

    def _begin(self, key: Key, name: str, attributes: Mapping[str, Any]) -> None:
        self._open[key] = self._tracer.start_span(name, context=self._parent(key), attributes=attributes)

    def _end(
        self, key: Key, outcome: str, error: BaseException | None, attributes: Mapping[str, Any]
    ) -> None:
        if (span := self._open.pop(key, None)) is not None:
            span.set_attributes({OUTCOME: outcome, **attributes})
            self._close(span, error, None)

    def _close(self, span: Any, error: BaseException | None, ended: int | None) -> None:
        if error is not None and not isinstance(error, Exception):
            span.set_attribute(OUTCOME, "cancelled")
        elif error is not None:
            span.set_attribute("error.type", getattr(error, "code", type(error).__name__))
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, type(error).__name__))
        span.end(ended)

    def _parent(self, key: Key) -> Any:
        """Return the context of the nearest span around a path, None for the ambient one."""
        run_id, path = key
        for length in range(len(path) - 1, -1, -1):
            if (around := self._open.get((run_id, path[:length]))) is not None:
                return self._trace.set_span_in_context(around)
        return None

    def _attributes(self, measures: Mapping[str, Measure]) -> dict[str, Any]:
        return {
            f"refdesk.{name}": value
            for name, value in measures.items()
            if value is not None and (self._texts or not is_text(name, value))
        }


def _is_of(tool: str, label: str) -> bool:
    """Tell a part of a tool by its name; a second `search` of a turn is `search-2`."""
    return label == tool or (label.startswith(f"{tool}-") and label[len(tool) + 1 :].isdecimal())


def _tokens(usage: Usage) -> dict[str, Any]:
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
    }
