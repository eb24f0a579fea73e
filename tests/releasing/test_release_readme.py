"""The README on a package index: links lead to the repository if its address is known, and are plain text otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from release.readme import for_index

pytestmark = pytest.mark.once

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PAGE = """# It

![A plan](docs/plan.svg)

See [install](docs/install.md#now), [`it`](docs/it.md), [NOTES.md](NOTES.md), [here](#it) and [there](https://example.org).

```text
[not](a/link.md)
```
"""


def test_with_an_address_links_and_pictures_lead_to_the_files_of_the_tag() -> None:
    page = for_index(PAGE, "https://example.org/me/it", "v1.0")
    assert "![A plan](https://example.org/me/it/raw/v1.0/docs/plan.svg)" in page
    assert "[install](https://example.org/me/it/blob/v1.0/docs/install.md#now)" in page
    assert "[here](#it) and [there](https://example.org)" in page
    assert "[not](a/link.md)" in page


def test_without_one_a_link_is_its_text_and_its_file_and_pictures_are_left_out() -> None:
    page = for_index(PAGE, "", "v1.0")
    assert "See install (`docs/install.md`), `it` (`docs/it.md`), `NOTES.md`, [here](#it)" in page
    assert "plan.svg" not in page
    assert "\n\n\n" not in page
    assert "[not](a/link.md)" in page


@pytest.mark.parametrize("source", ["", "https://example.org/me/it"])
def test_nothing_but_links_changes_in_our_own_readme(source: str) -> None:
    page = for_index(README, source, "v1.0")
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert re.findall(r"^#.*", page, re.M) == re.findall(r"^#.*", README, re.M)
    assert page.count("```") == README.count("```")
    assert page.count("\n| ") == README.count("\n| ")
