"""In which order calls run: as they were made; those that cannot disturb each other together, any other alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from ..core.errors import PunchlistError
from ..core.model import NOTHING
from ..desk.plan_mode import has_own_id, plan_file
from ..desk.tool_use import ToolUse, describe, record_tool_use
from .context import Context
from .events import Answered, Called, Interrupted
from .messages import Call, Result, whole
from .tools import Answer, Tool, bounded, checked, find
from .tools.paths import locate

NOT_BEGUN = "not run: the turn was stopped before this call began."
CUT_OFF = "interrupted: the user stopped this turn while the call ran; it has no answer, and may be half done."
LOST = "interrupted: the session ended while this ran; what came of it is not known, and it may be running still."
_AT_ONCE = 8
_UNKNOWN = Tool("", "", {}, lambda context, args: Answer(""))  # stands for a name that is not a tool's


def results(context: Context, tools: Sequence[Tool], calls: Sequence[Call]) -> Iterator[Result]:
    """The result of every call, in order, as they come. Once the user wants to stop, the rest is not begun."""
    most = context.bounds.calls
    for together, group in groupby(calls[:most], lambda call: _named(tools, call).concurrency_safe):
        if together:
            yield from _run(context, tools, list(group))
            continue
        for call in group:
            yield from _run(context, tools, [call])
    for call in calls[most:]:
        yield Result(call.id, call.tool, f"not run: at most {most} calls in one turn.", True)


def run_guarded(run: Callable[[], Answer]) -> Answer:
    """What came of something, whatever happens in it: a tool that breaks is an answer, not the end of the session."""
    try:
        return run()
    except Interrupted:
        return Answer(CUT_OFF, True)
    except PunchlistError as error:
        return Answer(str(error), True)
    except OSError as error:
        return Answer(f"{error.filename or 'the system'}: {error.strerror or error}.", True)
    except Exception as error:
        return Answer(f"the tool broke: {type(error).__name__}: {error}", True)


def _run(context: Context, tools: Sequence[Tool], batch: list[Call]) -> Iterator[Result]:
    if context.stop.asked:
        yield from (Result(call.id, call.tool, NOT_BEGUN, True) for call in batch)
        return
    plan = context.desk.plan
    here = context._replace(plan_file=plan_file(plan) if plan.mode == "plan" and has_own_id(plan) else "")

    planning = "plan" in (plan.mode, context.lead.plan.mode if context.lead else "")

    def one(call: Call) -> Result:
        return _one(here, planning, tools, call)

    if len(batch) == 1:
        found = [one(batch[0])]
    else:
        with ThreadPoolExecutor(min(len(batch), _AT_ONCE)) as pool:
            found = list(pool.map(one, batch))
    yield from found
    made = zip(batch, found, strict=True)
    uses = [_use(context, call, result) for call, result in made if not _seen_as(context, tools, call).is_plan]
    record_tool_use(context.desk, uses)


def _use(context: Context, call: Call, result: Result) -> ToolUse:
    ending: Mapping[str, Any] = NOTHING
    if call.tool == "shell":
        ending = result.details
    return describe(
        context.desk,
        call.tool,
        call.args,
        result.text,
        id=call.id,
        failed=result.is_error,
        folder=context.folder,
        **ending,
    )


def _one(context: Context, planning: bool, tools: Sequence[Tool], call: Call) -> Result:
    tool = _seen_as(context, tools, call)
    context.tell(Called(context.agent, call, tool.is_plan))
    answer = run_guarded(lambda: _answer(context, planning, find(tools, call.tool), call))
    text = bounded(whole(answer.text), 2 * context.bounds.output)
    result = Result(call.id, call.tool, text, answer.is_error, answer.details, answer.plan)
    display = "" if tool.silent else answer.display
    context.tell(Answered(context.agent, call, result, tool.is_plan, display))
    return result


def _answer(context: Context, planning: bool, tool: Tool, call: Call) -> Answer:
    args = checked(tool, call.args, context.bounds.args)
    if planning and not _is_allowed_while_planning(context, tool, call):
        return Answer(f"plan mode is on: {tool.name} has to wait until the user has approved the plan.", True)
    return tool.run(context, args)


def _is_allowed_while_planning(context: Context, tool: Tool, call: Call) -> bool:
    """What changes nothing; the way out; and the plan file. The plan's own tools say themselves what they refuse."""
    if tool.read_only or tool.ends_planning or tool.is_plan:
        return True
    return bool(tool.writes) and locate(context, call.args[tool.writes], to_write=True) == context.plan_file


def _named(tools: Sequence[Tool], call: Call) -> Tool:
    return next((tool for tool in tools if tool.name == call.tool), _UNKNOWN)


def _seen_as(context: Context, tools: Sequence[Tool], call: Call) -> Tool:
    """The tool of a call as the user sees it: a tool of the plan stays one, and silent, where it is not offered now."""
    tool = _named(tools, call)
    own = [one for one in context.desk.dialect.tools if one.name == call.tool]
    if tool is not _UNKNOWN or not own:
        return tool
    return tool._replace(is_plan=True, silent=own[0].silent)
