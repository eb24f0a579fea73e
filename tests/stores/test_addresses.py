"""The address of a store: what is refused, and what is never shown."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import punchlist
from punchlist.stores import masked


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://bob:s3cret@host/db", "postgresql://bob:***@host/db"),
        ("postgresql:/bob:s3cret@host/db", "postgresql:/bob:***@host/db"),
        ("postgresql:bob:s3cret@host/db", "postgresql:bob:***@host/db"),
        ("postgresql://h/db?sslpassword=a&password=b", "postgresql://h/db?sslpassword=***&password=***"),
        ("postgresql://bob@host/db", "postgresql://bob@host/db"),
        ("postgresql://bob:a b@host/db", "postgresql://bob:***@host/db"),
        ("postgresql://bob:a'b\"c@host/db", "postgresql://bob:***@host/db"),
        ("postgresql://bob:a/b?c#d@host/db", "postgresql://bob:***@host/db"),
        ("postgresql://bob:a%20b%40c@host/db", "postgresql://bob:***@host/db"),
        ("postgresql:host=h password='a b' user=bob", "postgresql:host=h password=*** user=bob"),
        ("postgresql:host=h password = 'a\\' b' user=bob", "postgresql:host=h password = *** user=bob"),
        ('postgresql:host=h password="a b" user=bob', "postgresql:host=h password=*** user=bob"),
        (r"postgresql:host=h password=a\ b user=bob", "postgresql:host=h password=*** user=bob"),
        ("postgresql://h/db?password=a%20b&x=1", "postgresql://h/db?password=***&x=1"),
        ("sqlite:/a@b:c/plan.db", "sqlite:/a@b:c/plan.db"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    assert masked(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:/bob:s3cret@host/db",
        "postgresql://bob:s3@cret@host/db",
        "postgresql://bob:cret 3@127.0.0.1:1/db",
        "postgresql://bob:cret/3@127.0.0.1:1/db",
        "postgresql://bob:cret#3@127.0.0.1:1/db",
        "postgresql://bob:%zzcret@127.0.0.1:1/db",
        "postgresql://127.0.0.1:1/db?password=a cret",
        "postgres://bob:the cret@host/db",
        "sqlite:/a\0b",
    ],
)
def test_an_address_that_cannot_be_right_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(punchlist.StoreError) as refusal:
        punchlist.open(url)
    assert "cret" not in str(refusal.value)


@pytest.mark.parametrize("stem", ["../out", "a/b", "/etc/passwd"])
def test_a_name_that_leads_out_of_a_directory_is_not_followed(tmp_path: Path, stem: str) -> None:
    url = f"json:{tmp_path / 'plans'}"
    with punchlist.open(url, session="s") as desk:
        desk.change(lambda plan: punchlist.ops.add(plan, "one"))
    with closing(sqlite3.connect(tmp_path / "plans" / "punchlist.db")) as db, db:
        db.execute("UPDATE list_states SET stem = ?", (stem,))
    with punchlist.open(url, session="s") as desk, pytest.raises(punchlist.StoreError, match="not the name of a file"):
        desk.change(lambda plan: punchlist.ops.add(plan, "two"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "plans"]
