"""What must hold for the archives of a release: a pure function for each check, which returns what is wrong."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import posixpath
import re
import tomllib
from collections.abc import Callable
from email import message_from_bytes
from email.message import Message
from typing import Any, NamedTuple

from packaging.metadata import Metadata
from trove_classifiers import classifiers as KNOWN_CLASSIFIERS

from .archives import Archive, Member

NAME = "punchlist"
MAN_PAGE = "docs/punchlist.1"
LONGEST_SUMMARY = 512  # characters that PyPI takes
LARGEST_WHEEL, LARGEST_SDIST = 3_000_000, 8_000_000  # bytes; about four times what they were at first


class Release(NamedTuple):
    """All that the checks look at."""

    version: str
    """The version in the source of the package."""
    tracked: Archive
    """The files of the commit that is released, as `git archive` gives them."""
    wheel: Archive
    """What most people install."""
    sdist: Archive
    """The source archive."""
    rebuilt: Archive
    """The wheel that is built from the source archive."""
    changing: tuple[str, ...] = ()
    """The archives that have other bytes when they are built a second time."""
    machine: tuple[tuple[str, str], ...] = ()
    """What this machine has that nobody else has: what it is, and the text that must not be in an archive."""

    @property
    def info(self) -> str:
        """The folder of a wheel's metadata."""
        return f"{NAME}-{self.version}.dist-info"

    @property
    def top(self) -> str:
        """The folder that everything in a source archive is in."""
        return f"{NAME}-{self.version}"

    def project(self) -> dict[str, Any]:
        """Return the table `project` of pyproject.toml."""
        table: dict[str, Any] = tomllib.loads((self.tracked.read("pyproject.toml") or b"").decode())["project"]
        return table

    def source_files(self) -> dict[str, bytes]:
        """Return what each file of the source archive holds, by its path in the repository."""
        return {path.removeprefix(f"{self.top}/"): data for path, data in self.sdist.files().items()}


# --- metadata --------------------------------------------------------------------------------------------------------


def _metadata(release: Release) -> bytes:
    return release.wheel.read(f"{release.info}/METADATA") or b""


def _headers(release: Release) -> Message:
    return message_from_bytes(_metadata(release))


def long_description(release: Release) -> str:
    """Return the README as it is in the metadata."""
    return _metadata(release).decode().partition("\n\n")[2]


def file_names(release: Release) -> list[str]:
    """The archives are named for the version, and everything is in the folder that belongs there."""
    wrong = []
    for archive, name in (
        (release.wheel, f"{NAME}-{release.version}-py3-none-any.whl"),
        (release.sdist, f"{NAME}-{release.version}.tar.gz"),
    ):
        if archive.name != name:
            wrong.append(f"{archive.name} must be named {name}: the version is in src/punchlist/__init__.py.")
    outside = [one.path for one in release.sdist.members if one.path.partition("/")[0] != release.top]
    return wrong + [f"{path} must be in {release.top}/." for path in outside]


def metadata(release: Release) -> list[str]:
    """The metadata is valid, says what pyproject.toml says, and the package depends on nothing."""
    text = _metadata(release)
    if not text:
        return [f"{release.info}/METADATA is not in the wheel."]
    try:
        Metadata.from_email(text, validate=True)
    except ExceptionGroup as group:
        return [f"METADATA is not valid: {error}" for error in group.exceptions]
    found, project = _headers(release), release.project()
    extras = sorted(project.get("optional-dependencies", {}))
    expected = {
        "Name": NAME,
        "Version": release.version,
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
        "Keywords": ",".join(project["keywords"]),
        "Summary": project["description"],
    }
    wrong = [f"{key} is {found[key]!r}, must be {value!r}." for key, value in expected.items() if found[key] != value]
    if sorted(found.get_all("Provides-Extra", [])) != extras:
        wrong.append(f"the extras are {found.get_all('Provides-Extra', [])}, must be {extras}.")
    required = [one for one in found.get_all("Requires-Dist", []) if "extra ==" not in one]
    wrong += [f"the package depends on {one!r}; it must need nothing outside its extras." for one in required]
    return wrong + _summary(found["Summary"] or "") + _classifiers(found) + _same_in_sdist(release, text)


def _summary(text: str) -> list[str]:
    if 0 < len(text) <= LONGEST_SUMMARY and "\n" not in text:
        return []
    return [f"the description has {len(text)} characters; PyPI takes one line of at most {LONGEST_SUMMARY}."]


def _classifiers(found: Message) -> list[str]:
    given = found.get_all("Classifier", [])
    wrong = [f"{one!r} is not a classifier that PyPI knows." for one in given if one not in KNOWN_CLASSIFIERS]
    if any(one.startswith("License ::") for one in given):
        wrong.append("a classifier names the license, and the license expression does; keep the expression only.")
    if not any(one.startswith("Programming Language :: Python :: 3.") for one in given):
        wrong.append("no classifier says for which versions of Python the package is.")
    return wrong


def _same_in_sdist(release: Release, text: bytes) -> list[str]:
    if release.source_files().get("PKG-INFO") == text:
        return []
    return ["PKG-INFO of the source archive must be the same as METADATA of the wheel."]


def license_file(release: Release) -> list[str]:
    """The license is named, and its text is in both archives."""
    found, project = _headers(release), release.project()
    wrong = []
    if found["License-Expression"] != project["license"]:
        wrong.append(f"License-Expression is {found['License-Expression']!r}, must be {project['license']!r}.")
    if found.get_all("License-File", []) != ["LICENSE"]:
        wrong.append("METADATA must name the file LICENSE.")
    text = release.tracked.read("LICENSE")
    if not text or release.wheel.read(f"{release.info}/licenses/LICENSE") != text:
        wrong.append(f"{release.info}/licenses/LICENSE of the wheel must be LICENSE of the repository.")
    if not text or release.source_files().get("LICENSE") != text:
        wrong.append("LICENSE of the source archive must be LICENSE of the repository.")
    return wrong


def entry_point(release: Release) -> list[str]:
    """The command is there."""
    text = (release.wheel.read(f"{release.info}/entry_points.txt") or b"").decode()
    if "[console_scripts]\npunchlist = punchlist.cli:main" in text:
        return []
    return ["entry_points.txt must have the command: punchlist = punchlist.cli:main."]


def readme(release: Release) -> list[str]:
    """PyPI can show the README, and its links lead somewhere from there."""
    from readme_renderer import markdown

    text = long_description(release)
    page = markdown.render(text)
    if not page:
        return ["the README is empty, or not Markdown that PyPI can show."]
    addresses = re.findall(r'<(?:a|img)\b[^>]*?\b(?:href|src)="([^"]*)"', page)
    wrong = [
        f"{address} leads nowhere on PyPI; write it as a Markdown link, which release/readme.py rewrites."
        for address in addresses
        if not re.match(r"https?://|mailto:|#", address)
    ]
    headings = len(re.findall(r"^#{1,6} ", re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M), re.M))
    shown = len(re.findall(r"<h[1-6]\b", page))
    if shown != headings or not shown:
        wrong.append(f"PyPI shows {shown} headings of the README, which has {headings}.")
    return wrong


def manifests(release: Release) -> list[str]:
    """Every manifest of ours, of a plugin or for a registry of servers, has the version of the package."""
    wrong = []
    for path, data in release.tracked.files().items():
        if not path.endswith(".json") or path.startswith(("tests/", "src/")):
            continue
        try:
            found = _versions_in(json.loads(data))
        except ValueError:
            continue  # not for us to read: a picture of a terminal, a document with comments
        others = sorted(found - {release.version})
        wrong += [f"{path} has the version {one!r}, must have {release.version!r}; write it again." for one in others]
    return wrong


def _versions_in(value: object) -> set[str]:
    """Return the versions in a document that are given to something with our name."""
    if isinstance(value, list):
        return {version for one in value for version in _versions_in(one)}
    if not isinstance(value, dict):
        return set()
    names = [str(value.get(key, "")).rpartition("/")[2] for key in ("name", "identifier")]
    is_ours = any(name == NAME or name.startswith(f"{NAME}-") for name in names)
    own = {str(value["version"])} if "version" in value and is_ours else set()
    return own | {version for one in value.values() for version in _versions_in(one)}


# --- files -----------------------------------------------------------------------------------------------------------


def wheel_files(release: Release) -> list[str]:
    """The wheel holds the tracked files of the package as they are, the man page and metadata; nothing else."""
    package = {
        path.removeprefix("src/"): data for path, data in release.tracked.files().items() if path.startswith("src/")
    }
    man = f"{NAME}-{release.version}.data/data/share/man/man1/punchlist.1"
    expected = {**package, man: release.tracked.read(MAN_PAGE) or b""}
    made = {f"{release.info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    made.add(f"{release.info}/licenses/LICENSE")
    found = {path: data for path, data in release.wheel.files().items() if path not in made}
    missing = [f"{path} is not in the wheel." for path in sorted(made - set(release.wheel.files()))]
    return missing + _differences("the wheel", found, expected)


def typed_marker(release: Release) -> list[str]:
    """Type checkers use the types of the installed package."""
    wrong = []
    if release.wheel.read(f"{NAME}/py.typed") is None:
        wrong.append("punchlist/py.typed is not in the wheel; type checkers take every name of ours for Any.")
    if "Typing :: Typed" not in _headers(release).get_all("Classifier", []):
        wrong.append("the classifier 'Typing :: Typed' is missing.")
    return wrong


def sdist_files(release: Release) -> list[str]:
    """The source archive holds every tracked file and link as it is, and PKG-INFO."""
    kinds = ("file", "link")
    found = {one.path.removeprefix(f"{release.top}/"): one.data for one in release.sdist.members if one.kind in kinds}
    found.pop("PKG-INFO", None)
    tracked = {one.path: one.data for one in release.tracked.members if one.kind in kinds}
    return _differences("the source archive", found, tracked)


def _differences(where: str, found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    wrong = [f"{path} is not in {where}." for path in sorted(expected.keys() - found.keys())]
    wrong += [f"{path} is in {where}, and git does not know it." for path in sorted(found.keys() - expected.keys())]
    both = sorted(expected.keys() & found.keys())
    return wrong + [f"{path} in {where} is not what was committed." for path in both if found[path] != expected[path]]


def modes(release: Release) -> list[str]:
    """Files are 0644; 0755 only where git has a program. Nobody else may write, nothing is setuid."""
    programs = {one.path for one in release.tracked.members if one.kind == "file" and one.mode & 0o100}
    wrong = []
    for archive, prefix in ((release.wheel, ""), (release.sdist, f"{release.top}/")):
        allowed = {prefix + path for path in programs} if prefix else set()
        for one in archive.members:
            right = 0o755 if one.path in allowed or one.kind == "folder" else 0o644
            if one.kind in ("file", "folder") and one.mode != right:
                wrong.append(f"{one.path} of {archive.name} has the mode {one.mode:04o}, must have {right:04o}.")
    return wrong


def paths(release: Release) -> list[str]:
    """No entry leaves its folder, is a device, or is there twice. A link stays inside, and a wheel has none."""
    wrong = []
    for archive, top in ((release.wheel, ""), (release.sdist, release.top)):
        seen: set[str] = set()
        for one in archive.members:
            problem = _path_problem(one, seen) or _link_problem(one, top)
            if problem:
                wrong.append(f"{one.path} of {archive.name} {problem}.")
            seen.add(one.path.rstrip("/").casefold())
    return wrong


def _path_problem(one: Member, seen: set[str]) -> str:
    parts = one.path.split("/")
    if one.path.startswith("/") or "\\" in one.path or re.match(r"[A-Za-z]:", one.path):
        return "is not a relative path"
    if ".." in parts:
        return "leaves its folder"
    if one.kind == "device":
        return "is a device; only files may be in an archive"
    if one.path.rstrip("/").casefold() in seen:
        return "is there twice, for a disk that ignores upper and lower case"
    return ""


def _link_problem(one: Member, top: str) -> str:
    if one.kind != "link":
        return ""
    if not top:
        return "is a link; only files may be in a wheel"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(one.path), one.data.decode()))
    if target.startswith(f"{top}/"):
        return ""
    return "is a link that leaves its folder"


def record(release: Release) -> list[str]:
    """RECORD lists every file of the wheel with its hash and size."""
    own = f"{release.info}/RECORD"
    rows = list(csv.reader(io.StringIO((release.wheel.read(own) or b"").decode())))
    listed = {row[0]: tuple(row[1:]) for row in rows}
    expected = {path: (_digest(data), str(len(data))) for path, data in release.wheel.files().items() if path != own}
    expected[own] = ("", "")
    wrong = [f"RECORD does not list {path}." for path in sorted(expected.keys() - listed.keys())]
    wrong += [f"RECORD lists {path}, which is not in the wheel." for path in sorted(listed.keys() - expected.keys())]
    both = sorted(listed.keys() & expected.keys())
    return wrong + [f"RECORD has a wrong hash or size of {path}." for path in both if listed[path] != expected[path]]


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def same_wheel(release: Release) -> list[str]:
    """The source archive builds the same wheel."""
    found, expected = release.rebuilt.files(), release.wheel.files()
    changed = sorted(path for path in found.keys() | expected.keys() if found.get(path) != expected.get(path))
    return [f"{path} differs in a wheel that is built from the source archive." for path in changed]


def reproducible(release: Release) -> list[str]:
    """Whoever builds the commit gets the same bytes."""
    return [
        f"{name} has other bytes when it is built again in another folder; find what depends on place or time."
        for name in release.changing
    ]


def size(release: Release) -> list[str]:
    """The archives are not larger than they need to be."""
    limits = ((release.wheel, LARGEST_WHEEL), (release.sdist, LARGEST_SDIST))
    return [
        f"{archive.name} has {archive.size:,} bytes, more than {most:,}; find what is in it that nobody needs."
        for archive, most in limits
        if archive.size > most
    ]


# --- what is in the files --------------------------------------------------------------------------------------------

# Brackets keep these lines from being found themselves.
_REGISTRY = re.compile(
    r"https?://\S*(?:py[p]i|pythonhosted|/simpl[e]\b|registry\.np[m]js|artifactory|devpi)"
    r"|--(?:extra-)?index[-]url[ =]\S|--find[-]links[ =]|--trusted[-]host[ =]",
    re.I,
)
PEOPLE = ("you", "me", "u", "ann", "user")  # whose folders the pages and tests show
_PLACE = re.compile(
    rf"[/]root[/]\w|[/]work[/]\w|(?<![\w.])(?:[/]home[/]|[/]Users[/])(?!(?:{'|'.join(PEOPLE)})\b)\w[\w.-]*[/]\w"
)
_TEMPORARY = re.compile(r"(?<![\w.])[/]tmp[/][\w.-]{3,}|[/]var[/]folders[/]\w")
_WORD = re.compile(r"(?<![\w./-])[A-Za-z0-9_][\w.-]{13,}")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}")


def _texts(release: Release) -> dict[str, str]:
    """Return every file of both archives as text, under its archive and path."""
    texts = {f"{release.wheel.name}: {path}": data for path, data in release.wheel.files().items()}
    texts |= {f"{release.sdist.name}: {path}": data for path, data in release.source_files().items()}
    return {path: data.decode("utf-8", "replace") for path, data in texts.items()}


def registries(release: Release) -> list[str]:
    """No file names a package registry."""
    found = [(path, hit) for path, text in _texts(release).items() for hit in _REGISTRY.findall(text)]
    return [
        f"{path} has {hit!r}, the address of a registry or an option that names one; remove it." for path, hit in found
    ]


def places(release: Release) -> list[str]:
    """No file has a path that exists on one machine only, or what else this machine has that no other has."""
    wrong = []
    for path, text in _texts(release).items():
        hits = _PLACE.findall(text)
        if path.startswith(release.wheel.name):
            hits += _TEMPORARY.findall(text)
        wrong += [f"{path} has {hit!r}, a place on one machine; write /home/you or a relative path." for hit in hits]
        wrong += [f"{path} has {what}; remove it." for what, own in release.machine if _holds(text, own)]
    return wrong


def _holds(text: str, own: str) -> bool:
    return own in text and re.search(rf"(?<![\w.-]){re.escape(own)}", text) is not None


def secrets(release: Release) -> list[str]:
    """No file has what looks like a key. Tests are not read: theirs are made up, to be found."""
    from punchlist.core.redact_patterns import blanked

    wrong = []
    for path, text in _texts(release).items():
        if ": tests/" in path:
            continue
        keys = [word for word in set(_WORD.findall(text)) if blanked(word) != word]
        wrong += [f"{path} has a word that looks like a key: {word[:8]}...; remove it, and revoke it." for word in keys]
        if _PRIVATE_KEY.search(text):
            wrong.append(f"{path} has a private key; remove it, and revoke it.")
    return wrong


def locks(release: Release) -> list[str]:
    """Requirements are locked: every one with its version and hashes, without an option."""
    wrong = []
    for path, text in release.source_files().items():
        if not re.fullmatch(r"requirements-\w+\.txt", path):
            continue
        for line in re.sub(r"\\\n", " ", text.decode()).splitlines():
            if line.startswith("-"):
                wrong.append(f"{path} has the option {line!r}; only requirements may be in it. Run make lock.")
            elif line[:1].isalnum() and not ("==" in line and "--hash=sha256:" in line):
                wrong.append(f"{path}: {line.split()[0]} has no version or no hash. Run make lock.")
    return wrong


CHECKS: dict[str, Callable[[Release], list[str]]] = {
    "file names": file_names,
    "metadata": metadata,
    "versions in manifests": manifests,
    "license": license_file,
    "command": entry_point,
    "readme on PyPI": readme,
    "files of the wheel": wheel_files,
    "typed marker": typed_marker,
    "files of the source archive": sdist_files,
    "modes": modes,
    "paths": paths,
    "RECORD": record,
    "same wheel from the source archive": same_wheel,
    "built twice, same bytes": reproducible,
    "size": size,
    "no registry": registries,
    "no place of one machine": places,
    "no secret": secrets,
    "locks": locks,
}


def notes(release: Release) -> list[str]:
    """Return what is worth knowing and not wrong."""
    found = _headers(release).get_all("Project-URL", [])
    if any(one.startswith("Source,") for one in found):
        return []
    return [
        "pyproject.toml has no [project.urls] Source: on PyPI, links of the README to our pages are plain text, and its"
        " pictures are left out."
    ]
