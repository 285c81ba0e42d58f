"""Loops on a real library, over a real HTTP server that replays what a model says."""

from collections.abc import Sequence
from typing import Any

import refdesk
from refdesk.context import Context
from refdesk.events import Event
from refdesk.pipeline import Pipeline, Step
from refdesk.steps import Loop
from refdesk.testing.chat_server import ChatServer, Replying, ServerReply, chat_server

QUESTION = "How many days of leave do employees get?"
ANSWER = "Employees get 30 days of leave [[1]]."
SAID = "Employees get 30 days of leave [1]."


def calls(
    *wanted: tuple[str, dict[str, Any]], text: str = "", usage: tuple[int, int] = (100, 10)
) -> ServerReply:
    """Return a reply that calls tools."""
    return ServerReply(calls=wanted, pieces=[text] if text else [], usage=usage)


def search(query: str = "days of leave", **more: Any) -> tuple[str, dict[str, Any]]:
    return "search", {"query": query, **more}


def answer(text: str = ANSWER) -> tuple[str, dict[str, Any]]:
    return "answer", {"text": text}


def give_up(reason: str = "The documents say nothing of it.") -> tuple[str, dict[str, Any]]:
    return "give_up", {"reason": reason}


def says(text: str) -> ServerReply:
    """Return a reply without calls."""
    return ServerReply(pieces=[text[:5], text[5:]], usage=(100, 10))


async def looped(
    desk: refdesk.Desk,
    *replies: Replying,
    loop: Step | Pipeline | None = None,
    question: str = QUESTION,
    events: list[Event] | None = None,
    **options: Any,
) -> tuple[Context, ChatServer]:
    """Run a loop whose models are a server with these replies; return the context and what the server got."""
    with chat_server(*replies) as server:
        context = await desk.run(
            loop or Loop(),
            question,
            llm=model_at(server),
            on_event=None if events is None else events.append,
            **options,
        )
    return context, server


def model_at(server: ChatServer) -> str:
    return f"openai:scripted@{server.base_url}"


def told(server: ChatServer, request: int) -> Sequence[dict[str, Any]]:
    """Return the messages of a request, the first is 0."""
    messages: Sequence[dict[str, Any]] = server.requests[request]["messages"]
    return messages


def results(server: ChatServer, request: int) -> list[tuple[str, str]]:
    """Return the ids and texts of the tool results that a request ends with."""
    found = []
    for message in reversed(told(server, request)):
        if message["role"] != "tool":
            break
        found.append((message["tool_call_id"], message["content"]))
    return found[::-1]
