"""The plan in agents of smolagents. docs/frameworks/smolagents.md shows it in use."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from .safe_desk import SafeDesk, SafeDesks, error_text, message

try:
    from smolagents.memory import ActionStep, PlanningStep, TaskStep
    from smolagents.tools import BaseTool, Tool
except ImportError as error:
    raise ImportError(f"smolagents is needed here: pip install 'punchlist[smolagents]' ({error})") from None

if TYPE_CHECKING:
    from smolagents.agents import MultiStepAgent
    from smolagents.memory import MemoryStep

_CODE = "python_interpreter"  # what smolagents calls the run of a model's code
_PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict"}


def plan(store: str = "", *, session: str = "", agent: str = "main", dialect: str = "native") -> AgentPlan:
    """Return a plan for an agent and its managed agents: `with plan("sqlite:plan.db") as p: p.attach(agent)`.

    `store`: the address of the store; `session`: whose plan it is, by default the one of the directory; `agent`: what
    the agent is called in the store, where managed agents have their names; `dialect`: which tool the model is given.
    """
    desks = SafeDesks(store, session=session, agent=agent, dialect=dialect)
    return AgentPlan(desks, desks.of())


class PlanIsNotFinished(Exception):
    """An agent wants to stop early; the text says so to its model."""


class AgentPlan:
    """The plan of one agent. It is a context manager: at its end the store is closed."""

    def __init__(self, desks: SafeDesks, desk: SafeDesk) -> None:
        self._desks = desks
        self._desk = desk
        self._replies: list[str] = []  # to calls of the step that is going on
        self._has_worked = False  # whether another tool was used in it
        self._run = object()  # the run that is going on
        self.tools: list[Tool] = [_PlanTool(self, one) for one in desk.tools("mcp")]
        self.check = self.plan_is_finished

    def __enter__(self) -> AgentPlan:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; what is used again is opened again."""
        self._desks.close()

    @property
    def instructions(self) -> str:
        """The text that goes with the tools, for the `instructions` of an agent."""
        return self._desk.system_prompt()

    def attach(self, agent: MultiStepAgent) -> MultiStepAgent:
        """Give an agent the plan, and each of its managed agents one of its own. Return the agent."""
        if any(tool in self.tools for tool in agent.tools.values()):
            return agent
        self._attach(agent)
        agent.final_answer_checks = [*agent.final_answer_checks, self.check]
        return agent

    def _attach(self, agent: MultiStepAgent) -> None:
        names = [tool.name for tool in self.tools]
        taken = [name for name in names if name in agent.tools or name in agent.managed_agents]
        if taken:
            raise ValueError(f"the agent has a tool {taken[0]!r} of its own; choose another dialect.")
        for name, tool in agent.tools.items():
            if name != "final_answer":
                agent.tools[name] = _WatchedTool(tool, self)
        agent.tools.update({tool.name: tool for tool in self.tools})
        known = agent.instructions or ""
        if self.instructions not in known:
            agent.instructions = "\n\n".join([text for text in (known, self.instructions) if text])
        agent.step_callbacks.register(ActionStep, self.tell)
        agent.run = _with_task(agent, self)  # type: ignore[method-assign]
        for managed in agent.managed_agents.values():
            own = self._desks.of(self._desks.session, managed.name)
            AgentPlan(self._desks, own)._attach(managed)

    # --- what happens in a run ---------------------------------------------------------------------------------------

    def begin(self, task: str, steps: Sequence[MemoryStep] = ()) -> str:
        """Report a task, and return it with what the model should be told. `steps`: of the memory, if it is kept."""
        told = self._desk.prompted(task, wrapped=True)
        known = [*_messages(steps, self.tools), message("user", task)]
        self._run = object()
        texts = self._desk.before_request(known, told, run=self._run)
        return "\n\n".join([task, *texts])

    def tell(self, step: MemoryStep, agent: MultiStepAgent) -> None:
        """Report a step, and add to what the model observes what it should know: for `step_callbacks`."""
        if not isinstance(step, ActionStep):
            return
        if step.is_final_answer:
            self._desk.kept(self._run)
        elif step.model_output_message is not None:
            self._desk.answered(self._run)
        replies, self._replies = self._replies, []
        self._report(step, agent)
        seen = step.observations or ""
        _add(step, [text for text in replies if text not in seen])
        if not step.is_final_answer:
            known = list(_messages([*agent.memory.steps, step], self.tools))
            _add(step, self._desk.before_request(known, run=self._run))

    def plan_is_finished(self, final_answer: Any, memory: Any = None, agent: Any = None) -> bool:
        """Refuse a final answer that comes early, within the bounds: for `final_answer_checks`."""
        nudge = self._desk.turn_ended(str(final_answer))
        if nudge:
            raise PlanIsNotFinished(nudge)
        return True

    def _report(self, step: ActionStep, agent: MultiStepAgent) -> None:
        """Report what was done in a step and not seen by a watched tool: the code, and tools that are not watched."""
        has_worked, self._has_worked = self._has_worked, False
        for call in step.tool_calls or []:
            if call.name == _CODE and step.code_action is not None:
                if not has_worked and not _calls_in(step.code_action, self.tools):
                    self._desk.tool_used(_CODE, {"code": call.arguments}, step.observations or "", bool(step.error))
            elif not isinstance(agent.tools.get(call.name), _PlanTool | _WatchedTool) and call.name != "final_answer":
                self._desk.tool_used(call.name, call.arguments, step.observations or "", bool(step.error))

    def _call(self, tool: str, args: dict[str, Any]) -> str:
        """Carry out a call of the model's. Code may ignore the answer, so it is kept for the end of the step."""
        text = self._desk.call(tool, args).text
        self._replies.append(text)
        return text

    def _used(self, tool: str, args: Any, result: Any, failed: bool) -> None:
        self._has_worked = True
        self._desk.tool_used(tool, args, result, failed)


class _PlanTool(Tool):  # type: ignore[no-untyped-call]
    """The tool of the plan, called with JSON or from Python."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, plan: AgentPlan, definition: dict[str, Any]) -> None:
        schema = definition["inputSchema"]
        required = schema.get("required", ())
        self.name = definition["name"]
        self.description = definition["description"]
        self.inputs = {
            name: {"description": "", **one, **({} if name in required else {"nullable": True})}
            for name, one in schema["properties"].items()
        }
        self._plan = plan
        super().__init__()  # type: ignore[no-untyped-call]

    def forward(self, *values: Any, **named: Any) -> str:
        """Carry out a call; what is not given, or None, is left out."""
        args = {**dict(zip(self.inputs, values, strict=False)), **named}
        return self._plan._call(self.name, {name: value for name, value in args.items() if value is not None})

    def to_code_prompt(self) -> str:
        """Return the tool as a Python function."""
        arguments = ", ".join([_argument(name, one) for name, one in self.inputs.items()])
        lines = [f"    {self.description}", *[f"    {line}" for line in _fields(self.inputs)]]
        return "\n".join([f"def {self.name}({arguments}) -> str:", '    """', *lines, '    """'])

    def to_tool_calling_prompt(self) -> str:
        """Return the tool in a line: its inputs are sent with every request."""
        return f"{self.name}: {self.description}"


class _WatchedTool(BaseTool):
    """A tool of the user's, whose calls are reported. Everything else is as before."""

    def __init__(self, tool: BaseTool, plan: AgentPlan) -> None:
        self._tool = tool
        self._plan = plan
        self.name = tool.name

    def __getattr__(self, name: str) -> Any:
        if name == "_tool":  # while it is copied
            raise AttributeError(name)
        return getattr(self._tool, name)

    def __call__(self, *values: Any, **named: Any) -> Any:
        args = {name: value for name, value in named.items() if name != "sanitize_inputs_outputs"}
        if values:
            args = {**dict(zip(getattr(self._tool, "inputs", ()), values, strict=False)), **args}
        result, failed = None, True
        try:
            result = self._tool(*values, **named)
            failed = False
        finally:
            if failed:
                result = error_text(sys.exception())
            self._plan._used(self.name, args, result, failed)
        return result


# --- inside ----------------------------------------------------------------------------------------------------------


def _with_task(agent: MultiStepAgent, plan: AgentPlan) -> Any:
    """The `run` of an agent, with a task that says what the model should know."""
    run = agent.run

    @wraps(run)
    def run_with_plan(task: str, stream: bool = False, reset: bool = True, *more: Any, **named: Any) -> Any:
        steps = () if reset else agent.memory.steps
        return run(plan.begin(task, steps), stream, reset, *more, **named)

    return run_with_plan


def _add(step: ActionStep, texts: Sequence[str]) -> None:
    if texts:
        step.observations = "\n\n".join([text for text in (step.observations, *texts) if text])


def _messages(steps: Sequence[MemoryStep], tools: Sequence[Tool]) -> Iterator[dict[str, Any]]:
    """The memory of an agent, as a desk reads a conversation."""
    for step in steps:
        if isinstance(step, TaskStep):
            yield message("user", step.task)
        elif isinstance(step, PlanningStep):
            yield message("assistant", step.plan)
        elif isinstance(step, ActionStep):
            said = step.model_output if isinstance(step.model_output, str) else ""
            calls = [(call.id, call.name, call.arguments) for call in step.tool_calls or []]
            calls += [("", name, {}) for name in _calls_in(step.code_action or "", tools)]
            yield message("assistant", said, calls)
            if step.observations:
                yield message("tool", step.observations)
            if step.error:
                yield message("tool", str(step.error), failed=True)


def _calls_in(code: str, tools: Sequence[Tool]) -> list[str]:
    """The tools of the plan that some code calls, as far as one sees."""
    return [tool.name for tool in tools if f"{tool.name}(" in code]


def _argument(name: str, schema: dict[str, Any]) -> str:
    default = " = None" if schema.get("nullable") else ""
    return f"{name}: {_python_type(schema)}{default}"


def _python_type(schema: dict[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list[{_python_type(schema.get('items', {}))}]"
    return _PYTHON.get(str(schema.get("type")), "Any")


def _fields(inputs: dict[str, Any]) -> Iterator[str]:
    """What the dicts in the arguments have, and what is said about the others."""
    for name, schema in inputs.items():
        inner = schema.get("items", schema)
        fields = [
            _argument(field, {**one, "nullable": field not in inner.get("required", ())})
            for field, one in inner.get("properties", {}).items()
        ]
        words = ["dicts with " + ", ".join(fields)] if fields else []
        words = [text for text in (schema.get("description"), *words) if text]
        if words:
            yield f"{name}: {'; '.join(words)}"
