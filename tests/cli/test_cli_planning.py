"""Plan mode on the command line: where the plan is written, what an approved text becomes, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import do, run

pytestmark = pytest.mark.usefixtures("own_folder")


def seeded(text: str) -> list[tuple[str, str, str]]:
    """The items that an approved text becomes: phase, text and status."""
    Path("approved.md").write_text(text, encoding="utf-8")
    do("mode", "act", "--seed", "approved.md")
    items = json.loads(do("show", "--json"))["items"]
    return [(item.get("phase", ""), item["text"], item["status"]) for item in items]


def test_the_folder_of_the_plan_file_is_there_when_plan_mode_begins() -> None:
    file = Path(json.loads(do("mode", "plan", "--json"))["session"]["plan_file"])
    assert (file.parent.is_dir(), file.exists()) == (True, False)
    file.write_text("- [ ] Read\n- [x] Look\n", encoding="utf-8")
    assert do("mode", "act").splitlines()[:2] == ['added 1 "Read".', 'added 2 "Look", completed.']
    assert file.exists()


def test_what_is_printed_of_a_plan_in_plan_mode_can_be_imported() -> None:
    Path("plan.json").write_text(do("mode", "plan", "--json"), encoding="utf-8")
    do("import", "--format", "json", "plan.json", "--session", "s2")
    assert json.loads(do("show", "--json", "--session", "s2"))["mode"] == "plan"


def test_plan_mode_shows_even_where_nothing_is_on_the_list() -> None:
    do("mode", "plan")
    assert do("show").splitlines()[1:] == ["plan mode"]


def test_emphasis_goes_and_names_and_code_stay() -> None:
    text = (
        "- [ ] **Reproduce** it\n- [ ] Fix __init__.py\n- [ ] *Carefully*\n"
        "- [ ] Look at `src/**` and `lib/**`\n- [ ] **Test:**\n"
    )
    found = [words for _, words, _ in seeded(text)]
    assert found == ["Reproduce it", "Fix __init__.py", "Carefully", "Look at `src/**` and `lib/**`", "Test"]


def test_headings_with_items_become_phases() -> None:
    assert seeded("# Plan\n\n## Find\n- [ ] Read\n\n## Fix\n- [x] Patch\n") == [
        ("Find", "Read", "pending"),
        ("Fix", "Patch", "completed"),
    ]


def test_a_plan_that_has_items_is_not_added_to_and_that_is_said() -> None:
    do("add", "Mine")
    Path("approved.md").write_text("- [ ] Theirs\n", encoding="utf-8")
    assert do("mode", "act", "--seed", "approved.md") == (
        "nothing changed.\nthe plan has items already, so nothing of approved.md was added to it.\n"
    )


def test_a_text_in_which_nothing_is_to_be_done_is_said_to_be_so() -> None:
    Path("approved.md").write_text("Just words.\n", encoding="utf-8")
    assert do("mode", "act", "--seed", "approved.md") == (
        "nothing changed.\napproved.md has no checkbox, no numbered line and no bullet: nothing was added.\n"
    )


def test_an_approved_text_that_is_named_is_used_whatever_the_settings_say() -> None:
    Path("punchlist.toml").write_text("seed_plan = false\n", encoding="utf-8")
    assert seeded("- [ ] Read\n") == [("", "Read", "pending")]


def test_without_that_setting_a_plan_file_is_only_kept() -> None:
    Path("punchlist.toml").write_text("seed_plan = false\n", encoding="utf-8")
    Path(json.loads(do("mode", "plan", "--json"))["session"]["plan_file"]).write_text("- [ ] Read\n", encoding="utf-8")
    assert do("mode", "act") == "switched to act mode.\n"


@pytest.mark.parametrize("mode", ["plan", "quiet"])
def test_an_approved_text_is_refused_where_nothing_is_approved(mode: str) -> None:
    Path("approved.md").write_text("- [ ] Read\n", encoding="utf-8")
    done = run("mode", mode, "--seed", "approved.md")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "punchlist: --seed goes with `mode act`: it names the text that you approve.\n"
