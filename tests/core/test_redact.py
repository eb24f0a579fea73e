"""Tool calls are remembered short and without secrets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchlist.core import redact_patterns
from punchlist.core.redact import blanked, redacted
from tests.core.plans import any_json, often
from tests.growth import grows_evenly

BLANK = "[redacted]"
KEY = "sk-" + "a1B2" * 8
SLOW = ["://", "://a:", "://a:@", "-u ", "-u a:", "--user ", "mysql", "mysql ", "mysql -p", "sshpass "]
SLOW_QUOTES = [
    'password="',
    "password=a'",
    'token=\\"',
    "-u 'a:",
    "-su a:",
    'mysql -p"',
    "token=''",
    "token='a\n",
    "'\"",
]


@pytest.mark.parametrize("value", ["ls -la", "", "make test", 7, 1.5, True, None, ["a", 1], {"path": "/tmp/x", "n": 3}])
def test_what_is_no_secret_stays(value: object) -> None:
    assert redacted(value) == value


@pytest.mark.parametrize(
    "name",
    ["password", "PASSWORD", "db_password", "api_key", "api-key", "apiKey", "Authorization", "client_secret", "token"],
)
def test_what_has_the_name_of_a_secret_is_blanked(name: str) -> None:
    assert redacted({name: "hunter2"}) == {name: BLANK}
    assert redacted({name: ["hunter2", 7]}) == {name: [BLANK, BLANK]}


def test_the_form_of_a_value_stays() -> None:
    value = {
        "a": [{"token": "x", "keep": None}],
        "token": {"nested": {"value": 1, "on": True, "none": None, "empty": ""}},
    }
    assert redacted(value) == {
        "a": [{"token": BLANK, "keep": None}],
        "token": {"nested": {"value": 1, "on": True, "none": None, "empty": ""}},
    }


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"use {KEY} now", f"use {BLANK} now"),
        (f"'{KEY}'", f"'{BLANK}'"),
        ("ghp_" + "x" * 36, BLANK),
        ("AKIA" + "X" * 16, BLANK),
        ("eyJhbGciOiJIUzI1NiJ9.e30.abc", BLANK),
        ("TOKEN=abc make", f"TOKEN={BLANK} make"),
        ("run --password hunter2 --fast", f"run --password {BLANK} --fast"),
        ("run --password=hunter2", f"run --password={BLANK}"),
        ("curl -H Authorization: Bearer abc", f"curl -H Authorization: Bearer {BLANK}"),
        ("curl -u me:hunter2 https://x/y", f"curl -u me:{BLANK} https://x/y"),
        ("curl -ume:hunter2 -s", f"curl -ume:{BLANK} -s"),
        ("curl --user 'me:hunter2'; ls", f"curl --user 'me:{BLANK}'; ls"),
        ("curl --proxy-user=me:hunter2", f"curl --proxy-user=me:{BLANK}"),
        ("git clone https://me:hunter2@host/x", f"git clone https://me:{BLANK}@host/x"),
        ("psql postgresql://me:hun@ter2@host:5432/db", f"psql postgresql://me:{BLANK}@host:5432/db"),
        ("redis://:hunter2@host", f"redis://:{BLANK}@host"),
        ("mysql -u root -phunter2 shop", f"mysql -u root -p{BLANK} shop"),
        ("mysqldump -p'hunter 2' shop > out", f"mysqldump -p{BLANK} shop > out"),
        ("sshpass -p hunter2 ssh me@host", f"sshpass -p {BLANK} ssh me@host"),
        ('curl -u "me:correct horse battery" https://x', f'curl -u "me:{BLANK}" https://x'),
        ("curl -u 'me:p&ss;w|rd' https://x", f"curl -u 'me:{BLANK}' https://x"),
        ("curl -u \"me\":'correct horse' -s", f'curl -u "me":{BLANK} -s'),
        ("curl -su me:hunter22", f"curl -su me:{BLANK}"),
        ("curl -sSfLu me:hunter22", f"curl -sSfLu me:{BLANK}"),
        ("curl -u 42:7secret", f"curl -u 42:{BLANK}"),
        ('mysql -u root -pse"cr"et', f"mysql -u root -p{BLANK}"),
        ("mysql -p'a b'c\"d e\" shop", f"mysql -p{BLANK} shop"),
        ("sshpass -p 'a;b c' ssh me@host", f"sshpass -p {BLANK} ssh me@host"),
        ("PASSWORD='correct horse' make", f"PASSWORD='{BLANK}' make"),
        ("PASSWORD='correct'\" horse\" make", f"PASSWORD='{BLANK}' make"),
        ("PASSWORD=cor'rect horse'battery make", f"PASSWORD={BLANK} make"),
        (r"PASSWORD=correct\ horse make", f"PASSWORD={BLANK} make"),
        (r'PASSWORD="correct \"horse\" battery" make', f'PASSWORD="{BLANK}" make'),
        ('password="a&bcdef"', f'password="{BLANK}"'),
        ("run --password 'correct horse' --fast", f"run --password '{BLANK}' --fast"),
        ("password => 'correct horse', user => 1", f"password => '{BLANK}', user => 1"),
        ("PRIVATE_KEY='-----BEGIN\nMII\n-----END' run", f"PRIVATE_KEY='{BLANK}' run"),
    ],
)
def test_a_secret_inside_a_text_is_blanked(text: str, wanted: str) -> None:
    assert redacted(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('curl -H "Authorization: Bearer abc" -d "x y"', f'curl -H "Authorization: Bearer {BLANK}" -d "x y"'),
        ("curl -d 'password=abc' -H 'a: b'", f"curl -d 'password={BLANK}' -H 'a: b'"),
        ('bash -c "curl -u me:hunter2 x" && ls "a b"', f'bash -c "curl -u me:{BLANK} x" && ls "a b"'),
        ("bash -c 'mysql -pse\"cr\"et' && ls 'a b'", f"bash -c 'mysql -p{BLANK}' && ls 'a b'"),
        ("echo \"PASSWORD='correct horse'\" > x", f"echo \"PASSWORD='{BLANK}'\" > x"),
        ('{"password":"abc def","user":"me"}', f'{{"password":"{BLANK}","user":"me"}}'),
        (r'-d "{\"password\": \"a b\", \"n\": 1}" x', rf'-d "{{\"password\": \"{BLANK}\", \"n\": 1}}" x'),
        ('open(password="abc", x=1)', f'open(password="{BLANK}", x=1)'),
        ("I don't know PASSWORD='correct horse' yet", f"I don't know PASSWORD='{BLANK}' yet"),
    ],
)
def test_what_stands_around_a_secret_in_quotes_stays(text: str, wanted: str) -> None:
    assert redacted(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["PASSWORD='correct horse", '{"password":"correct horse', "mysql -p'correct horse", 'curl -u "me:correct horse'],
)
def test_a_secret_whose_closing_quote_is_missing_goes_to_the_end(text: str) -> None:
    assert "correct" not in redacted(text)
    assert "horse" not in redacted(text)


def test_a_stray_quote_before_it_does_not_show_a_secret() -> None:
    assert "hunter" not in redacted("the users ' password='hunter2")


@pytest.mark.parametrize(
    "text",
    [
        "A=1\nTOKEN=hunter2-hunter2",
        "A=1\tTOKEN=hunter2-hunter2",
        "run\n--password\nhunter2-hunter2",
        "use\nBearer\nhunter2-hunter2",
    ],
)
def test_a_secret_is_found_behind_any_white_space(text: str) -> None:
    assert "hunter2" not in redacted(text)


def test_what_looks_like_a_key_is_blanked_whatever_its_name() -> None:
    assert KEY not in redacted(f"OPENAI={KEY} run")
    assert KEY not in redacted(f"key:{KEY}")


@pytest.mark.parametrize("text", ["sk-short", "skip this one", "eyJ", "tokens are counted", "the password policy"])
def test_what_only_looks_a_little_like_a_secret_stays(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "serve -p 8080",
        "mkdir -p dir; cp -pr a b",
        "docker run -u 1000:1000 -p8080:80 mysql",
        'docker run -u "1000:1000" mysql',
        "docker run -itu 1000:1000 mysql",
        "git push -fu origin main",
        'curl -d "password=" https://x',
        "password='' make",
        "mysql -u root -p shop",
        "mysql -P3306 --protocol=tcp",
        "mysql < dump.sql; mkdir -pv dir",
        "git push -u origin main",
        "git remote add -u https://host:8080/x@y",
        "rsync -u host:/path here",
        "systemctl --user restart a:b",
        "ssh://git@host:22/x",
        "http://host:8080/me@there",
        "python -u script.py",
    ],
)
def test_what_only_stands_like_a_password_stays(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize("text", ["curl -u me:hunter2 https://me:x@y", "mysql -phunter2 --password=x"])
def test_what_is_blanked_already_stays_as_it_is(text: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


def test_a_long_text_is_cut() -> None:
    assert redacted("x " * 200) == ("x " * 200)[:199].rstrip() + "…"
    assert len(redacted({"deep": ["y" * 1000]})["deep"][0]) == 200


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    return [shape(entry) for entry in value] if isinstance(value, list) else "leaf"


@often(60)
@given(any_json)
def test_any_value_keeps_its_form(value: object) -> None:
    assert shape(redacted(value)) == shape(value)


def test_a_value_beside_the_name_of_a_secret_is_blanked() -> None:
    given = {"env": [{"name": "DB_PASSWORD", "value": "hunter22"}, {"name": "DB_HOST", "value": "db.example.org"}]}
    found = redacted(given)
    assert found["env"] == [
        {"name": "DB_PASSWORD", "value": "[redacted]"},
        {"name": "DB_HOST", "value": "db.example.org"},
    ]
    assert redacted({"key": "token_count", "value": "12"}) == {"key": "token_count", "value": "12"}


@pytest.mark.parametrize(
    "piece", [*"y-_:", "ab", "password", "--token", "password ", "sk-", "bearer ", *SLOW, *SLOW_QUOTES]
)
def test_a_long_text_takes_no_longer_than_its_beginning(piece: str) -> None:
    def read(size: int) -> None:
        redacted(piece * size)
        blanked((piece * size)[:size])

    assert grows_evenly(read, 5_000, 40_000)  # it took minutes once


_PIECES = ("-", "--", "u", "su", "user", "me", ":", "=", " ", '"', "'", "\\", "\n", "mysql", "p", "pass", "word", "tok")
_MORE = (
    "en",
    "://",
    "@",
    "a",
    "1",
    "sk",
    "_",
    "key",
    "api",
    "eyJ",
    "x" * 12,
    "Bearer",
    "private",
    "AKIA",
    "ghp",
    "glpat",
)


@often(300)
@given(st.lists(st.sampled_from(_PIECES + _MORE), max_size=25).map("".join))
def test_a_text_without_a_hint_holds_nothing_that_would_be_found(text: str) -> None:
    assert blanked(text) == redact_patterns.blanked(text)
