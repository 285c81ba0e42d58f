"""Answer without evidence, for questions that need none."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from refdesk.answering.history import rejection, said_before
from refdesk.answering.writing import nothing_said, write
from refdesk.context import Turn
from refdesk.events import AnswerEvent, Done
from refdesk.llm import DEFAULTS, LLM, Message, Options
from refdesk.llm.thoughts import said


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeAnswerer:
    """Ask a language model to answer from what it knows; nothing is cited and nothing can be clicked."""

    llm: LLM
    instructions: str = ""
    history: tuple[Turn, ...] = ()
    rejected: str = ""
    """Why a review rejected an earlier answer."""
    messages: tuple[Message, ...] = ()
    options: Options = DEFAULTS

    async def stream(self, question: str) -> AsyncGenerator[AnswerEvent, None]:
        """Give the reply as it is written. Errors: `LLMError`, also for a reply without text."""
        reply = said(self.llm.stream(self.messages or self._messages(question), self.options))
        written = write(question, reply, (), evidence=(), model=self.llm.name, cites=False)
        async with aclosing(reply), aclosing(written) as events:
            async for event in events:
                if isinstance(event, Done) and not event.answer.text:
                    raise nothing_said(self.llm.name)
                yield event

    def _messages(self, question: str) -> tuple[Message, ...]:
        rules = f"\n\nRules of the house\n{self.instructions}" if self.instructions else ""
        asked = Message("user", rejection(self.rejected) + question)
        return (Message("system", SYSTEM + rules), *said_before(self.history), asked)


SYSTEM = """\
You answer simple questions and small talk at a reference desk, from general knowledge, briefly.
No documents were searched for this question: do not claim that any were, cite nothing, write no links.
If you are not sure, say so. Answer in the language of the question."""
