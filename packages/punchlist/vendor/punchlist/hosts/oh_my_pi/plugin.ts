// Written by `punchlist install oh-my-pi`; `punchlist uninstall oh-my-pi` removes it.
// Sends events to `punchlist hook oh-my-pi`, and hands on what it answers. Whatever fails, omp goes on as without it.
import { spawn } from "node:child_process";

const PUNCHLIST = "@PUNCHLIST@";
const IN_PACKAGE = false; // whether this is a part of a package, which keeps silent beside settings of ours
const WORDS = ["hook", "oh-my-pi", ...(IN_PACKAGE ? ["--plugin"] : [])];
const SECONDS = 5; // for an answer
const STOP_SECONDS = 28; // for one at the end of a turn, when checks may be run; omp goes on after 30
const COMMITS = /commit|[pm]r create|pull-request/; // what a command during which the plan is left alone has in it

type Answer = { context?: string; nudge?: string };

function ask(event: Record<string, unknown> & { limit?: number }): Promise<Answer> {
	return new Promise((done) => {
		try {
			const child = spawn(PUNCHLIST, WORDS, { stdio: ["pipe", "pipe", "ignore"] });
			const late = setTimeout(() => child.kill(), 1000 * (event.limit ?? SECONDS));
			let said = "";
			child.stdout.on("data", (more) => (said += more));
			child.stdin.on("error", () => {});
			child.on("error", () => (clearTimeout(late), done({})));
			child.on("close", () => {
				clearTimeout(late);
				try {
					done(said ? JSON.parse(said) : {});
				} catch {
					done({});
				}
			});
			child.stdin.end(JSON.stringify(event));
		} catch {
			done({});
		}
	});
}

function textOf(content: unknown): string {
	if (typeof content === "string") return content;
	const parts = Array.isArray(content) ? content : [];
	return parts.filter((part) => part?.type === "text").map((part) => part.text).join("\n");
}

// The beginning and the end of what a tool answered.
function shortened(text: string): string {
	return text.length > 4000 ? `${text.slice(0, 2000)}\n...\n${text.slice(-2000)}` : text;
}

// How a command ended. Its exit code is told unless it is 0: then there is only the time it took.
function ending(event: any): Record<string, unknown> {
	if (event.toolName !== "bash") return {};
	const { exitCode, wallTimeMs, timedOut, async } = event.details ?? {};
	if (async) return { no_exit: "it went to the background" };
	if (timedOut) return { no_exit: "it timed out" };
	const ended = exitCode === undefined && wallTimeMs !== undefined && event.isError !== true;
	return { exit: ended ? 0 : exitCode, seconds: wallTimeMs === undefined ? undefined : wallTimeMs / 1000 };
}

// An MCP tool may be reached as a device: a `write` to xd://NAME.
function called(event: any): { tool: string; args: unknown } {
	const path = event.input?.path;
	if (event.toolName !== "write" || typeof path !== "string" || !path.startsWith("xd://")) {
		return { tool: event.toolName, args: event.input };
	}
	return { tool: path.slice(5), args: event.input.content };
}

export default function (pi: any): void {
	let nudged = ""; // what we nudged it with: it comes back as a prompt, which is not the user's
	let restored = ""; // the plan, after a compaction

	const nameOf = (model: any) => (typeof model?.id === "string" ? model.id : undefined);
	const tell = (moment: string, ctx: any, more: Record<string, unknown> = {}) =>
		ask({ moment, session: ctx?.sessionManager?.getSessionId?.() ?? "", cwd: ctx?.cwd ?? process.cwd(), model: nameOf(ctx?.model), ...more });

	const begun = async (_event: any, ctx: any) => {
		const old = (ctx?.sessionManager?.getEntries?.() ?? []).some((entry: any) => entry?.type === "message");
		const { context } = await tell("start", ctx, { source: old ? "resume" : "startup" });
		restored = context ?? "";
	};
	pi.on("session_start", begun);
	pi.on("session_switch", begun); // another session, in the same terminal
	pi.on("session_compact", async (_event: any, ctx: any) => {
		restored = (await tell("start", ctx, { source: "compact" })).context ?? "";
	});
	pi.on("before_agent_start", async (event: any, ctx: any) => {
		const ours = nudged;
		nudged = "";
		if (ours && (event.prompt ?? "").includes(ours.split("\n")[0])) return undefined;
		const { context } = await tell("prompt", ctx, { prompt: event.prompt ?? "" });
		const told = [restored, context].filter(Boolean).join("\n");
		restored = "";
		return told ? { message: { customType: "punchlist", content: told, display: false } } : undefined;
	});
	pi.on("tool_call", async (event: any, ctx: any) => {
		const { tool, args } = called(event);
		const command = event.input?.command ?? "";
		if (/punchlist/.test(`${tool} ${command}`) || COMMITS.test(command)) await tell("before", ctx, { tool, args, use: event.toolCallId });
	});
	pi.on("tool_result", async (event: any, ctx: any) => {
		const { tool, args } = called(event);
		const result = shortened(textOf(event.content));
		const more = { tool, args, use: event.toolCallId, failed: event.isError === true, result, ...ending(event) };
		const { context } = await tell("after", ctx, more);
		const told = [restored, context].filter(Boolean).join("\n");
		restored = "";
		return told ? { content: [...event.content, { type: "text", text: told }] } : undefined;
	});
	pi.on("session_stop", async (event: any, ctx: any) => {
		const last = event.last_assistant_message;
		const { nudge } = await tell("stop", ctx, { said: textOf(last?.content), interrupted: last?.stopReason === "aborted", limit: STOP_SECONDS });
		nudged = nudge ?? "";
		return nudge ? { decision: "block", reason: nudge } : undefined;
	});
}
