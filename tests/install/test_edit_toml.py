"""TOML files of others: one table put in and taken out, every other byte left alone."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.core.errors import Refused
from punchlist.install import installer_for
from punchlist.install.apply import add_parts, strip_parts
from punchlist.install.edit_toml import put, remove
from punchlist.install.parts import Part, Where
from tests.core.plans import often

PATH = ("mcp_servers", "punchlist")
TABLE = {"command": "/opt/bin/punchlist", "args": ["mcp"], "on": True}
OURS = '[mcp_servers.punchlist]\ncommand = "/opt/bin/punchlist"\nargs = ["mcp"]\non = true\n'

_TOP = [
    'model = "gpt-5.4" # why\n',
    "# a comment\n\n",
    "  list = [ # open\n  '[mcp_servers.punchlist]',\n  \"#\", ] # closed\n",
    'text = """\n[mcp_servers.punchlist]\ncommand = "no" \\\n  """\n',
    "raw = '''\n[x]\n'''\n",
    '"quoted = key" = 1\n',
    'dotted.key = { a = 1, b = "]" }\n',
    "nan = nan\n",
    "when = 2026-01-31T10:00:00Z\n",
]
_TABLES = [
    '[mcp_servers.other]\ncommand = "x"\nargs = [\n  "a", # one\n]\n\n',
    '[mcp_servers.other.env]\nA = "1"\n',
    '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\n',
    '[projects."/home/ann/a]b"]\ntrust_level = "trusted"\n\n\n',
    "[ features ]   # spaced\nhooks = true",
    "[empty]\n# only a comment\n",
]


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file of any kind of statement, in any order that TOML allows."""
    top = draw(st.lists(st.sampled_from(_TOP), unique=True, max_size=4))
    tables = draw(st.lists(st.sampled_from(_TABLES), unique=True, max_size=4))
    text = "".join([*top, *(table if table.endswith("\n") else table + "\n" for table in tables)])
    if draw(st.booleans()):
        text = text.rstrip("\n")
    text = draw(st.sampled_from(["", "\ufeff"])) + text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def value(text: str) -> Any:
    return tomllib.loads(text.removeprefix("\ufeff"))


@often(200)
@given(files())
def test_a_table_is_added_to_what_was_there_and_goes_without_a_trace(text: str) -> None:
    part = next(one for one in installer_for("codex").parts(Where("user", "/h", "/p", "/bin/punchlist", {})))
    new = add_parts(text, [part], "codex", "")
    before, after = value(text), value(new)
    assert after["mcp_servers"].pop("punchlist") == part.value
    assert str(after) in (str(before), str({**before, "mcp_servers": {}}))
    assert new.startswith(text)
    assert add_parts(new, [part], "codex", "") == new
    assert strip_parts(new, [part], "codex", text) == text


@often(100)
@given(files(), st.sampled_from(_TABLES))
def test_what_is_written_behind_ours_stays(text: str, more: str) -> None:
    line = "\r\n" if "\r\n" in text else "\n"
    later = "\n[later]\nx = 1\n".replace("\n", line)
    gone = remove(put(text, PATH, TABLE) + later, PATH)
    assert str(value(gone)) == str({**value(text), "later": {"x": 1}})
    assert gone.endswith(later)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", OURS),
        ("a = 1", "a = 1\n\n" + OURS),
        ("a = 1\n", "a = 1\n\n" + OURS),
        ("a = 1\r\n", "a = 1\r\n\r\n" + OURS.replace("\n", "\r\n")),
        ("[mcp_servers.punchlist]\ncommand = '/old' # mine\n", "[mcp_servers.punchlist]\n" + OURS.split("\n", 1)[1]),
    ],
    ids=ascii,
)
def test_the_table_is_written_in_the_form_of_the_file(before: str, after: str) -> None:
    new = put(before, PATH, TABLE)
    assert sorted(new.replace(" # mine", "").splitlines()) == sorted(after.splitlines())
    assert value(new) == value(after)


def test_only_the_keys_that_differ_are_written_again() -> None:
    ours = '# mine\n[mcp_servers.punchlist]\nargs=["mcp"]\ncommand =  "/old" # path\non = true\n'
    text = ours + '[mcp_servers.punchlist.env]\nA = "1"\n'
    assert put(text, PATH, TABLE) == text.replace("/old", "/opt/bin/punchlist")


def test_what_the_agent_wrote_below_our_table_goes_with_it() -> None:
    text = 'model = "x"\n'
    more = '\n[mcp_servers.punchlist.tools.plan]\napproval_mode = "approve"\n'
    assert remove(put(text, PATH, TABLE) + more, PATH) == text


def test_a_comment_that_the_user_wrote_before_our_table_stays() -> None:
    text = put("a = 1\n", PATH, TABLE).replace("[mcp", "# my servers\n[mcp")
    assert remove(text, PATH) == "a = 1\n\n# my servers\n"


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\npunchlist = { command = "/old/punchlist", args = ["mcp"] }\n',
        'mcp_servers.punchlist.command = "/old/punchlist"\nmcp_servers.punchlist.args = ["mcp"]\n',
        '[mcp_servers]\nother.command = "x"\npunchlist.command = "/old/punchlist"\npunchlist.args = ["mcp"]\n',
    ],
    ids=ascii,
)
def test_a_server_that_was_written_in_another_way_is_known_and_goes(text: str) -> None:
    gone = remove(text, PATH)
    assert "punchlist" not in gone
    value(gone)


@pytest.mark.parametrize("text", ['mcp_servers = { other = { command = "x" } }\n', "mcp_servers = 3\n"], ids=ascii)
def test_what_cannot_be_edited_safely_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(Refused, match="it cannot be edited safely; edit it by hand:\n") as refusal:
        put(text, PATH, TABLE)
    assert str(refusal.value).endswith(OURS)


@pytest.mark.parametrize("text", ["a = \n", "[a]\n[a]\n", "a = 1\na = 2\n", "x\x00"], ids=ascii)
def test_what_is_not_toml_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(Refused, match=r"\(at (line \d+, column \d+|end of document)\)"):
        put(text, PATH, TABLE)


def test_a_table_that_is_not_ours_is_refused() -> None:
    part = Part("server", "entry", ("config.toml",), PATH, TABLE)
    text = '[mcp_servers.punchlist]\nurl = "https://elsewhere"\n'
    with pytest.raises(Refused, match="is there already and is not ours"):
        add_parts(text, [part], "codex", "")
    assert strip_parts(text, [part], "codex", None) == text
