"""MCP resources: the plan as documents that a client reads, and follows. Reading one tells no model anything: a client
may keep it to itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json import dumps
from time import monotonic
from urllib.parse import unquote

from ..core._typing import TYPE_CHECKING, Any, NamedTuple
from ..core.codec import to_json
from ..core.errors import Refused, StoreError
from ..core.model import Plan
from ..core.text import cut, inline
from ..desk.grade_labels import load_tails, with_grades
from ..desk.visible import visible

if TYPE_CHECKING:
    from ..desk import Desk
    from ..stores import PlanSummary

    Message = dict[str, Any]

PLAN, PLAN_JSON, PLANS = "punchlist://plan", "punchlist://plan.json", "punchlist://plans"
_ITEM, _OTHER = "punchlist://plan/items/", "punchlist://plans/"
_MARKDOWN, _JSON = "text/markdown", "application/json"
_MOST = 100  # plans on the list
_LONGEST = 600  # characters of an address
LOOKS = 0.1  # seconds between two looks at what is followed
_SHARE = 20  # a look that takes long is followed by a pause of so many times that
_PAUSE = 5.0  # seconds: the longest such pause
_PATIENCE = 0.1  # seconds that a look waits for a store

RESOURCES: tuple[Message, ...] = (
    {
        "uri": PLAN,
        "name": "plan",
        "title": "The plan",
        "description": "the plan of this session, as Markdown",
        "mimeType": _MARKDOWN,
    },
    {
        "uri": PLAN_JSON,
        "name": "plan.json",
        "title": "The plan as JSON",
        "description": "the plan of this session with everything it holds, and what its checks say",
        "mimeType": _JSON,
    },
    {
        "uri": PLANS,
        "name": "plans",
        "title": "The plans of this project",
        "description": "the plans of this project, the last touched first",
        "mimeType": _JSON,
    },
)
TEMPLATES: tuple[Message, ...] = (
    {
        "uriTemplate": f"{_OTHER}{{id}}",
        "name": "plan of this project",
        "title": "A plan of this project",
        "description": "a plan of this project by its id, as Markdown",
        "mimeType": _MARKDOWN,
    },
    {
        "uriTemplate": f"{_ITEM}{{id}}",
        "name": "item",
        "title": "An item of the plan",
        "description": "an item of this session's plan by its id, as JSON",
        "mimeType": _JSON,
    },
)


class NoResource(Refused):
    """An address at which there is nothing."""


def read(desk: Desk, uri: str) -> Message:
    """Return the contents at an address. Raises NoResource and StoreError."""
    kind, id = _parsed(uri)
    if kind == PLANS:
        return _contents(uri, _JSON, _as_text([_summary(one) for one in _plans(desk)]))
    if kind == _OTHER:
        plan = desk._seat.store.load(_plan_of_place(desk, uri, id).id)
        if plan is None:
            raise _none(uri)
        return _contents(uri, _MARKDOWN, _document(desk, plan))
    plan = visible(desk, desk.plan)
    if kind == PLAN:
        return _contents(uri, _MARKDOWN, _document(desk, plan))
    data = with_grades(desk, plan, to_json(plan))
    if kind == PLAN_JSON:
        return _contents(uri, _JSON, _as_text(data))
    found = next((entry for entry in data["items"] if entry["id"] == id), None)
    if found is None:
        raise _none(uri)
    return _contents(uri, _JSON, _as_text(found))


def is_known(uri: str) -> bool:
    """Whether an address is of a form that can be read and followed."""
    try:
        _parsed(uri)
    except NoResource:
        return False
    return True


def complete(desk: Desk, template: str, value: str) -> list[str]:
    """Return the ids that a template can be filled with, by how they begin."""
    if template == f"{_OTHER}{{id}}":
        return [one.id for one in _plans(desk) if one.id.startswith(value)]
    if template == f"{_ITEM}{{id}}":
        return [item.id for item in desk.plan.items if item.id.startswith(value)]
    raise _none(template)


# --- following -------------------------------------------------------------------------------------------------------


class Watch:
    """What is followed, as it was last seen. It is looked at only while somebody follows it."""

    def __init__(self) -> None:
        self._seen: dict[str, object] = {}
        self._due = 0.0

    @property
    def is_empty(self) -> bool:
        return not self._seen

    def keep(self, desk: Desk | None, uris: Iterable[str]) -> None:
        """Follow these addresses and no others. What is new is taken to be known as it is now."""
        wanted = list(uris)
        self._seen = {uri: self._seen[uri] if uri in self._seen else _look(desk, uri) for uri in wanted}

    def changed(self, desk: Desk) -> list[str]:
        """Return the addresses whose contents may be others than when this was last asked. A store that is slow is
        asked less often, and one that fails is not waited for."""
        start = monotonic()
        if start < self._due:
            return []
        found = []
        for uri, before in self._seen.items():
            now = _look(desk, uri)
            if now is not None and now != before:
                self._seen[uri] = now
                if before is not None:
                    found.append(uri)
        self._due = start + min(_SHARE * (monotonic() - start), _PAUSE)
        return found


def _look(desk: Desk | None, uri: str) -> object:
    """What tells whether the contents at an address have changed, cheaply; None if the store does not say."""
    if desk is None:
        return None
    store = desk._seat.store
    patience = store.patience
    store.patience = min(patience, _PATIENCE)
    try:
        kind, id = _parsed(uri)
        if kind == PLANS:
            return [(one.id, one.revision, one.sessions) for one in _plans(desk)]
        if kind == _OTHER:
            return store.peek(id, "")[0]
        return desk._seat.peek()[:2]
    except (StoreError, Refused):
        return None
    finally:
        store.patience = patience


# --- inside ----------------------------------------------------------------------------------------------------------


class _Address(NamedTuple):
    """What an address names: one of the fixed ones, or the beginning of one with an id."""

    kind: str
    id: str = ""


def _parsed(uri: str) -> _Address:
    if uri in (PLAN, PLAN_JSON, PLANS):
        return _Address(uri)
    for kind in (_ITEM, _OTHER):
        id = unquote(uri[len(kind) :])
        if uri.startswith(kind) and len(uri) <= _LONGEST and id.isprintable() and id and "/" not in id:
            return _Address(kind, id)
    raise _none(uri)


def _none(uri: str) -> NoResource:
    known = ", ".join([PLAN, PLAN_JSON, PLANS, f"{_OTHER}ID", f"{_ITEM}ID"])
    return NoResource(f"no resource {cut(inline(uri), 80)!r}; there are {known}.")


def _plans(desk: Desk) -> Sequence[PlanSummary]:
    """The plans of this project. Those of other projects are none of this client's business."""
    return desk._seat.store.plans(_MOST, place=desk._seat.place)


def _plan_of_place(desk: Desk, uri: str, id: str) -> PlanSummary:
    found = desk._seat.store.plans(1, plan=id, place=desk._seat.place)
    if not found:
        raise _none(uri)
    return found[0]


def _summary(one: PlanSummary) -> Message:
    """A plan among others, in the words of `punchlist plans --json`."""
    data = one._asdict()
    program = data.pop("host")
    about = {**data, "sessions": list(one.sessions), "session": one.session, "program": program}
    return {**about, "uri": f"{_OTHER}{one.id}"}


def _document(desk: Desk, plan: Plan) -> str:
    """The plan as `punchlist show --markdown` writes it. Its texts are harmless data: they may end up in a prompt."""
    from ..core.diff import without_calls
    from ..core.markdown import write_document

    if not plan.id:
        return "There is no plan yet.\n"
    return write_document(_harmless(without_calls(plan)[0]), load_tails(desk, plan))


def _harmless(plan: Plan) -> Plan:
    """A plan whose texts cannot pose as markup."""
    items = [
        item._replace(
            text=inline(item.text),
            reason=inline(item.reason),
            notes=tuple(map(inline, item.notes)),
            phase=inline(item.phase),
        )
        for item in plan.items
    ]
    return plan._replace(title=inline(plan.title), phases=tuple(map(inline, plan.phases)), items=tuple(items))


def _contents(uri: str, kind: str, text: str) -> Message:
    return {"contents": [{"uri": uri, "mimeType": kind, "text": text}]}


def _as_text(data: object) -> str:
    return dumps(data, ensure_ascii=False, indent=1)
