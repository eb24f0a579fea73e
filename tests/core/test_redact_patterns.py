"""Secrets are found and look-alikes kept: a labelled corpus in tests/vectors, at most 1% of either wrong."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from punchlist.core.redact import blanked, redacted
from tests.growth import grows_evenly

VECTORS = Path(__file__).parents[1] / "vectors"
_ALPHABETS = {
    "": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "x": "0123456789abcdef",
    "b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
}


def vectors(name: str) -> list[str]:
    lines = (VECTORS / name).read_text(encoding="utf-8").splitlines()
    return [_written_out(line) for line in lines if line and not line.startswith("#")]


def _written_out(line: str) -> str:
    draw = random.Random(line)

    def drawn(found: re.Match[str]) -> str:
        return "".join(draw.choices(_ALPHABETS[found[1]], k=int(found[2])))

    line = line.replace("\\\\n", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\n")
    return re.sub(r"(?<!\*)\*([xbU]?)(\d+)", drawn, line).replace("~", "")


def secrets_in(text: str) -> tuple[str, list[str]]:
    """A text without its marks, and what was marked."""
    return text.replace("[[", "").replace("]]", ""), re.findall(r"\[\[(.*?)\]\]", text, re.DOTALL)


def test_the_corpus_is_large_enough() -> None:
    assert len(vectors("secrets.txt")) >= 200
    assert len(vectors("look_alikes.txt")) >= 200


def test_at_most_one_secret_of_a_hundred_is_kept() -> None:
    given = vectors("secrets.txt")
    shown = []
    for line in given:
        text, marked = secrets_in(line)
        kept = blanked(text)
        if any(secret in kept for secret in marked):
            shown.append((text, kept))
    assert len(shown) <= len(given) / 100, shown


def test_at_most_one_look_alike_of_a_hundred_is_blanked() -> None:
    given = vectors("look_alikes.txt")
    changed = [(text, blanked(text)) for text in given if blanked(text) != text]
    assert len(changed) <= len(given) / 100, changed


def test_what_is_blanked_once_stays_as_it_is() -> None:
    for line in vectors("secrets.txt"):
        once = blanked(secrets_in(line)[0])
        assert blanked(once) == once


def test_a_command_that_is_given_as_a_list_keeps_no_secret() -> None:
    assert redacted(["docker", "login", "-p", "hunter2", "host"]) == ["docker", "login", "-p", "[redacted]", "host"]
    assert redacted(["run", "--password", "hunter2"]) == ["run", "--password", "[redacted]"]
    assert redacted(["bash", "-lc", "DB_PASS=hunter2 make"]) == ["bash", "-lc", "DB_PASS=[redacted] make"]
    assert redacted(["ls", "-la", "pass"]) == ["ls", "-la", "pass"]


def test_a_number_of_tokens_is_kept_and_a_token_is_not() -> None:
    assert redacted({"max_tokens": 4096, "token": 4096}) == {"max_tokens": 4096, "token": "[redacted]"}
    assert redacted({"token_count": 7, "secret_name": "db"}) == {"token_count": 7, "secret_name": "db"}
    assert redacted({"Cookie": "a=b", "DB_PASS": "x", "pwd": "y"}) == dict.fromkeys(
        ["Cookie", "DB_PASS", "pwd"], "[redacted]"
    )


@pytest.mark.parametrize(
    "pair",
    [("name", "value"), ("key", "value"), ("Key", "Value"), ("variable", "value"), ("ParameterKey", "ParameterValue")],
)
def test_what_an_entry_beside_it_names_as_a_secret_is_blanked(pair: tuple[str, str]) -> None:
    naming, named = pair
    given = {"variables": [{naming: "DB_PASSWORD", named: "hunter2"}, {named: "db", naming: "HOST"}]}
    blank = {"variables": [{naming: "DB_PASSWORD", named: "[redacted]"}, {named: "db", naming: "HOST"}]}
    assert redacted(given) == blank
    assert redacted({naming: ["DB_PASSWORD"], named: "x"}) == {naming: ["DB_PASSWORD"], named: "x"}


def test_a_key_that_is_cut_off_is_blanked_to_its_end() -> None:
    text = "cat key\n-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA\n" * 400
    assert redacted(text) == "cat key\n[redacted]"


_HARD = (
    "password=f(",
    "password='none password='",
    "Authorization: Basic ",
    "Authorization: a=",
    "docker login -p",
    "docker login -",
    "htpasswd -b a ",
    "-----BEGIN PRIVATE " + "KEY-----",
    "-----END PRIVATE " + "KEY-----",
    "config set a.",
    "postgresql://a:b c ",
    "a:a:",
    "--a-",
    "token: str = ",
    "machine a login b ",
    "echo a:",
    "curl http -a ",
    "aA1_",
    "pass",
    "1//0",
    "$6$",
    "basic ",
    "a.password.",
    "'\"password",
    "sudo -S ",
    "sudo -S <<< ",
    "echo a | sudo -S",
    "name: token\nvalue:",
    '"value": "a", ',
    "set -x -x ",
    "setenv('token', '",
    "user-secrets set a:",
    "private-lines: 1\n" + "a" * 20 + "\n",
    "https://a1b2c3d4e5f6g7h8@",
)


@pytest.mark.parametrize("piece", _HARD)
def test_the_time_grows_with_the_length_of_a_text_and_no_faster(piece: str) -> None:
    assert grows_evenly(lambda size: blanked((piece * (size // len(piece) + 1))[:size]), 4_000, 32_000)
