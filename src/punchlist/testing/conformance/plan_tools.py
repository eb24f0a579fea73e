"""The plan's tool among the tools that a model is offered, and a model's calls in its dialect.

Two kinds of tools are known: `plan`, which has a verb for each change, and tools that are sent the complete list each
time (`TodoWrite` and its relatives). They are told apart by their schemas, so a tool may have any name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..scripted_model import ScriptedCall

_SCHEMAS = (
    *("input_schema", "inputSchema", "parameters", "parameters_json_schema", "params_json_schema", "args_schema"),
    *("inputs", "schema", "json_schema", "parametersJsonSchema"),
)
_TEXTS = ("content", "step", "text", "description", "title", "task", "name")  # keys of an entry's words
_VERBS = {"add", "done", "drop"}
_STATUSES = {
    "pending": ("pending", "todo"),
    "in_progress": ("in_progress", "active"),
    "completed": ("completed", "done"),
}
OPEN, ACTIVE, DONE = "pending", "in_progress", "completed"


class Offered(NamedTuple):
    """A tool as a model is offered it."""

    name: str
    properties: Mapping[str, Any]
    root: Mapping[str, Any]  # its complete schema, for references
    definition: Mapping[str, Any]  # what a provider is sent of it


class ListTool(NamedTuple):
    """A tool that is sent the complete list."""

    name: str
    argument: str  # that holds the list
    words: str  # the key of an entry's text
    entry: Mapping[str, Any]  # the properties of an entry
    required: tuple[str, ...]


class VerbTool(NamedTuple):
    """The tool that has a verb for each change."""

    name: str
    can_pause: bool


def offered(tools: object) -> list[Offered]:
    """Return the tools in what a model was offered, as plain data."""
    return list(_definitions(tools))


def plan_tool(tools: object) -> VerbTool | ListTool | None:
    """Return the tool of the plan, if there is one of a known kind."""
    found = offered(tools)
    for tool in found:
        if tool.properties.keys() >= _VERBS:
            return VerbTool(tool.name, "pause" in tool.properties)
    for tool in found:
        for argument, schema in tool.properties.items():
            listed = _list_tool(tool, argument, schema)
            if listed:
                return listed
    return None


def _definitions(value: object) -> Iterator[Offered]:
    """Every tool in a value, however deep: providers and frameworks nest them in their own ways."""
    if isinstance(value, list):
        for inner in value:
            yield from _definitions(inner)
    elif isinstance(value, dict):
        found = _definition(value)
        if found:
            yield found
        else:
            yield from _definitions(list(value.values()))


def _definition(value: dict[str, Any]) -> Offered | None:
    """The tool that a value describes; None if it is something else."""
    name = value.get("name")
    schemas = [value[key] for key in _SCHEMAS if isinstance(value.get(key), dict)]
    schemas += [one["json"] for one in schemas if isinstance(one.get("json"), dict)]  # as Amazon's interface nests it
    if not isinstance(name, str) or not (schemas or "description" in value):
        return None
    for schema in schemas:
        if isinstance(schema.get("properties"), dict):
            return Offered(name, schema["properties"], schema, _sent(value, schema))
    properties: dict[str, Any] = {}
    if schemas:
        properties = schemas[0]  # some give the properties alone
    return Offered(name, properties, {}, _sent(value, properties))


def _sent(tool: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a provider is sent of a tool. An object of a framework holds more, which may change."""
    if "class" not in tool:
        return tool
    words = tool.get("description") or tool.get("about") or ""
    return {"name": tool["name"], "description": words, "input_schema": schema}


def _list_tool(tool: Offered, argument: str, schema: object) -> ListTool | None:
    for one in _variants(schema, tool.root):
        for entry in _variants(one.get("items"), tool.root):
            properties = entry.get("properties")
            if not isinstance(properties, dict) or "status" not in properties:
                continue
            words = next((key for key in _TEXTS if key in properties), "")
            if words:
                required = tuple([str(key) for key in entry.get("required") or ()])
                return ListTool(tool.name, argument, words, properties, required)
    return None


def _variants(schema: object, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema itself, and what it refers to or lets one choose from."""
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        found: object = root
        for key in reference[2:].split("/"):
            found = found.get(key) if isinstance(found, dict) else None
        if found is not schema:
            yield from _variants(found, {key: value for key, value in root.items() if key != "properties"})
        return
    yield schema
    for key in ("anyOf", "oneOf", "any_of"):
        for inner in schema.get(key) or ():
            yield from _variants(inner, root)


class PlanWriter:
    """A model that writes its plan: what it calls, in the dialect of the tool that it was offered."""

    def __init__(self, tool: VerbTool | ListTool, id_of: Callable[[str], int], known: Mapping[str, str]) -> None:
        self.tool = tool
        self._id_of = id_of  # the id of the item with this text
        self._own = dict(known)  # what it believes is on its list: text and status

    @property
    def is_list(self) -> bool:
        """Whether it sends the complete list each time."""
        return isinstance(self.tool, ListTool)

    def add(self, *texts: str) -> ScriptedCall:
        """Add items."""
        for text in texts:
            self._own[text] = OPEN
        return self._write({"add": [{"text": text} for text in texts]})

    def finish(self, *texts: str) -> ScriptedCall:
        """Mark items as done."""
        for text in texts:
            self._own[text] = DONE
        if self.is_list:
            return self._write({})
        return self._write({"done": [self._id_of(text) for text in texts]})

    def again(self) -> ScriptedCall:
        """Send the list as this model knows it, without what others added."""
        return self._write({"add": [{"text": text} for text in self._own]})

    def drop_without_reason(self, text: str) -> ScriptedCall | None:
        """Drop an item and give no reason. None where leaving it off the list does that."""
        if self.is_list:
            return None
        return self._write({"drop": [self._id_of(text)]})

    def pause(self, reason: str) -> ScriptedCall | None:
        """Ask for a pause. None if the tool cannot."""
        if isinstance(self.tool, VerbTool) and self.tool.can_pause:
            return self._write({"pause": reason})
        return None

    def malformed(self) -> Sequence[ScriptedCall]:
        """Calls as a weak model makes them, none of which can be carried out."""
        if isinstance(self.tool, ListTool):
            key, text = self.tool.argument, self.tool.words
            wrong: list[dict[str, Any]] = [{key: 7}, {key: [{text: 5, "status": ["?"]}]}, {"list": []}, {}]
        else:
            wrong = [{"done": "first"}, {"add": 7}, {"finish": True}, {"done": [99]}, {}]
        return [ScriptedCall("", self.tool.name, args) for args in wrong]

    def _write(self, verbs: dict[str, Any]) -> ScriptedCall:
        if not isinstance(self.tool, ListTool):
            return ScriptedCall("", self.tool.name, verbs)
        tool = self.tool
        is_first, entries = True, []
        for index, (text, status) in enumerate(self._own.items()):
            if status != DONE:
                status = ACTIVE if is_first else OPEN
                is_first = False
            entries.append(_entry(tool, index, text, status))
        return ScriptedCall("", tool.name, {tool.argument: entries})


def _entry(tool: ListTool, index: int, text: str, status: str) -> dict[str, Any]:
    known = {tool.words: text, "status": _status(tool.entry.get("status"), status)}
    for key in tool.required:
        if key not in known:
            known[key] = _filled(tool.entry.get(key), index, text)
    return known


def _status(schema: object, status: str) -> str:
    """A status in the words of this tool."""
    allowed = schema.get("enum") if isinstance(schema, dict) else None
    if not isinstance(allowed, list) or status in allowed:
        return status
    return next((word for word in _STATUSES[status] if word in allowed), status)


def _filled(schema: object, index: int, text: str) -> Any:
    """What a model would say for a key that an entry must have."""
    if not isinstance(schema, dict):
        return text
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    kind = str(schema.get("type", "string")).lower()
    if kind in ("integer", "number"):
        return index + 1
    if kind == "boolean":
        return False
    if kind == "array":
        return []
    return text
