"""What a model is to the agent: one function from what was said, and the tools there are, to the next turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..core.errors import PunchlistError, Refused
from ..core.model import NOTHING
from ..core.text import cut, inline
from .messages import Call, Message, Usage

_NAMING = "say --model anthropic:NAME, openai:NAME, ollama:NAME or script:FILE, or set `model`"


class ModelError(PunchlistError):
    """The model could not be asked, or did not answer; says why and what to do."""


class ConversationTooLong(ModelError):
    """The conversation is longer than the model can read."""


class Offer(NamedTuple):
    """A tool as the model is shown it."""

    name: str
    about: str
    schema: Mapping[str, Any]
    strict: bool = False  # whether the provider should hold the model to the schema, where it can
    examples: tuple[Mapping[str, Any], ...] = ()


class ModelAnswer(NamedTuple):
    """One answer of a model."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = Usage()
    kept: Mapping[str, Any] = NOTHING  # the provider's own form, where it wants that back


def ignore(text: str) -> None:
    """Nobody wants to know."""


class Model(Protocol):
    """Whatever answers. `on_text` is given each piece of text as it comes, and nothing now and then while there is
    none: it may raise, and the request ends there. `on_wait` is given why nothing comes for a while, and nothing once
    that is over."""

    def request(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Offer],
        on_text: Callable[[str], None],
        on_wait: Callable[[str], None] = ignore,
    ) -> ModelAnswer:
        """The next turn. Raises ModelError."""

    def worker(self, agent: str) -> Model:
        """The model that a sub-agent of this name is given."""

    def close(self) -> None:
        """Release connections."""


def model_name(name: str) -> str:
    """The name of the model itself; empty for a script, whose name is that of a file."""
    kind, _, rest = name.partition(":")
    if kind == "script":
        return ""
    return rest


def open_model(name: str, base_url: str = "") -> Model:
    """The model of a name such as `anthropic:NAME`, `openai:NAME`, `ollama:NAME` or `script:FILE`."""
    kind, colon, rest = name.partition(":")
    if not name:
        raise Refused(f"no model is named; {_NAMING}. `punchlist demo` needs none.")
    if not colon or not rest:
        raise Refused(f"no model {cut(inline(name), 60)!r}; {_NAMING}.")
    if kind == "script":
        from .scripted import read_script

        return read_script(rest)
    from .providers import Provider

    return Provider(kind, rest, base_url)
