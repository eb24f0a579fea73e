"""An oracle that knows nothing of how lists are merged: it looks at the plan before and after a list was sent, and at
who changed what, and says whether an edit was undone or an open item vanished."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import strategies as st

from punchlist import Desk, MemoryStore, Plan, ops
from punchlist.core.errors import PunchlistError
from punchlist.core.model import CLOSED, USER, Item
from punchlist.core.text import plainly
from punchlist.local.settings import load
from tests.dialects import lists

_SETTINGS = load({}, environ={})
_TEXTS = (
    "Read the code",
    "Fix the bug",
    "Run the tests",
    "Write the docs",
    "Ask Ann",
    "Deploy it",
    "Measure it",
    "Rest",
)
_STATUSES = ("pending", "in_progress", "completed")
_FIELDS = ("text", "notes", "status", "reason")

texts = st.sampled_from(_TEXTS)
places = st.integers(0, 7)
edits = st.one_of(
    st.tuples(st.sampled_from(("complete", "reopen", "remove", "start", "unblock")), places),
    st.tuples(st.sampled_from(("rename", "note", "drop", "block")), places, texts),
    st.tuples(st.just("add"), texts),
    st.tuples(st.just("move"), places, places),
)
sends = st.one_of(
    st.tuples(st.sampled_from(("again", "older", "as told", "finish all"))),
    st.tuples(st.sampled_from(("leave out", "shuffle")), places),
    st.tuples(st.just("status"), places, st.sampled_from(_STATUSES)),
    st.tuples(st.sampled_from(("reword", "append")), places, texts),
)
steps = st.lists(st.one_of(st.tuples(st.just("user"), edits), st.tuples(st.just("list"), sends)), max_size=14)


class Oracle:
    """A session in which the user and an agent take turns."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.desk = Desk(MemoryStore(), session="s", dialect=dialect, settings=_SETTINGS)
        self.mine: list[list[str]] = []  # the list as the agent has it in mind
        self.sent: list[list[list[str]]] = []
        self.heard = Plan()  # the plan when the agent last got an answer

    def step(self, who: str, what: tuple[Any, ...]) -> None:
        if who == "user":
            self._edit(*what)
        else:
            self._think(*what)
            self._send()

    def _edit(self, verb: str, *values: Any) -> None:
        items = self.desk.plan.items
        ids = [items[value % len(items)].id if items else "" for value in values if isinstance(value, int)]
        try:
            if verb == "add":
                self.desk.change(lambda plan: ops.add(plan, values[0]))
            elif verb == "move":
                self.desk.change(lambda plan: ops.move(plan, ids[0], after=ids[1]))
            elif verb in ("drop", "block"):
                self.desk.change(lambda plan: getattr(ops, verb)(plan, ids[0], why=values[1]))
            else:
                self.desk.change(lambda plan: getattr(ops, verb)(plan, ids[0], *values[1:]))
        except PunchlistError:  # there is no such item, or it cannot be done with it
            pass

    def _think(self, verb: str, *values: Any) -> None:
        """What the model makes of its list. It may add what it was told of, or forget all that happened since."""
        mine = [list(entry) for entry in self.mine]
        place = values[0] % len(mine) if values and mine else 0
        if verb == "older" and self.sent:
            mine = [list(entry) for entry in self.sent[len(self.sent) // 2]]
        elif verb == "as told":
            mine = [[item.text, "pending" if item.status == "blocked" else item.status] for item in self.heard.items]
            mine = [entry for entry in mine if entry[1] in _STATUSES]
        elif verb == "finish all":
            mine = [[text, "completed"] for text, _ in mine]
        elif verb == "append":
            mine.append([values[1], "pending"])
        elif mine and verb == "leave out":
            del mine[place]
        elif mine and verb == "shuffle":
            mine = mine[place:] + mine[:place]
        elif mine and verb == "status":
            mine[place][1] = values[1]
        elif mine and verb == "reword":
            mine[place][0] = f"{mine[place][0]} and {values[1].lower()}"
        active = [entry for entry in mine if entry[1] == "in_progress"]
        for entry in active[1:]:  # gencode takes one
            entry[1] = "pending"
        self.mine = mine[:20]

    def _send(self) -> None:
        before = self.desk.plan
        reply = self.desk.call(lists.DIALECTS[self.dialect], lists.args(self.dialect, self.mine))
        assert not reply.is_error, reply.text
        after = self.desk.plan
        self._check_unseen(before, after)
        self._check_open(before, after)
        self.sent.append([list(entry) for entry in self.mine])
        self.heard = after

    def _check_unseen(self, before: Plan, after: Plan) -> None:
        """What the user changed since the last answer is as the user left it."""
        if not after.items and not any(item.status not in CLOSED for item in before.items if not self._lists(item)):
            return  # all was done, and the list was cleared
        known = {item.id: item for item in self.heard.items}
        now = {item.id: item for item in after.items}
        for item in before.items:
            old = known.get(item.id)
            if old is None:
                assert item.id in now, f"the user's {item} is gone"
                assert now[item.id].text == item.text, f"the user's {item} was renamed"
                continue
            for name in _FIELDS:
                if getattr(old, name) != getattr(item, name):
                    assert item.id in now, f"{item}, which the user edited, is gone"
                    assert getattr(now[item.id], name) == getattr(item, name), f"{name} of {item} was undone"
        left = {id for id in known if id not in {item.id for item in before.items}}
        assert not left & now.keys(), "what the user removed is back"
        common = [item.id for item in self.heard.items if item.id in {other.id for other in before.items}]
        moved = [item.id for item in before.items if item.id in known]
        if moved != common:
            still = [id for id in moved if id in now]
            assert [item.id for item in after.items if item.id in still] == still, "the user's order was undone"

    def _lists(self, item: Item) -> bool:
        """Whether the agent knows of the item, and lists it as completed, in its words of now or of then."""
        done = [plainly(text) for text, status in self.mine if status == "completed"]
        known = [one for one in self.heard.items if one.id == item.id]
        return any(plainly(one.text) in done or plainly(item.text) in done for one in known)

    def _check_open(self, before: Plan, after: Plan) -> None:
        """An open item ends only if the agent made it, listed it before, and does not list it now."""
        now = {item.id: item for item in after.items}
        sent = Counter(plainly(text) for text, _ in self.mine)
        there = Counter(plainly(item.text) for item in before.items)
        for item in before.items:
            new = now.get(item.id)
            is_ended = new is None or (new.status == "abandoned" and item.status not in CLOSED)
            if item.status in CLOSED or not is_ended:
                continue
            if not after.items and self._lists(item):
                continue  # it was finished, and the list was cleared
            assert self._author(item) != USER, f"{item}, which the user added, is gone"
            words = plainly(item.text)
            assert sent[words] < there[words] + self._once_called(words, before), f"{item} was sent, and is gone"

    def _once_called(self, words: str, plan: Plan) -> int:
        """How many items had these words once, and have others now or were removed by the user: an agent that sends
        them may mean one of those."""
        texts = {item.id: plainly(item.text) for item in plan.items}
        return plan.removed.count(words) + len(
            {
                change.id
                for record in self.desk.history()
                for change in record.changes
                if change.kind == "changed" and plainly(change.before.text) == words != texts.get(change.id, words)
            }
        )

    def _author(self, item: Item) -> str:
        added = [
            record.by
            for record in self.desk.history()
            for change in record.changes
            if change.kind == "added" and change.id == item.id
        ]
        return added[-1] if added else ""
