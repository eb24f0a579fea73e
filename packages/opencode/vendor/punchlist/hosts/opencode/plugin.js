// Written by `punchlist install opencode`; `punchlist uninstall opencode` removes it.
// Sends events to `punchlist hook opencode`, and hands on what it answers. Whatever fails, opencode goes on as without it.
import { spawn } from "node:child_process"

const PUNCHLIST = "@PUNCHLIST@"
const IN_PACKAGE = false // whether this is a part of a package, which keeps silent beside settings of ours
const WORDS = ["hook", "opencode", ...(IN_PACKAGE ? ["--plugin"] : [])]
const SECONDS = 5 // for an answer
const STOP_SECONDS = 90 // for one at the end of a turn, when checks may be run
const COMMITS = /commit|[pm]r create|pull-request/ // what a command during which the plan is left alone has in it

const ask = (event) =>
  new Promise((done) => {
    try {
      const child = spawn(PUNCHLIST, WORDS, { stdio: ["pipe", "pipe", "ignore"] })
      const late = setTimeout(() => child.kill(), 1000 * (event.limit ?? SECONDS))
      let said = ""
      child.stdout.on("data", (more) => (said += more))
      child.stdin.on("error", () => {})
      child.on("error", () => (clearTimeout(late), done({})))
      child.on("close", () => {
        clearTimeout(late)
        try {
          done(said ? JSON.parse(said) : {})
        } catch {
          done({})
        }
      })
      child.stdin.end(JSON.stringify(event))
    } catch {
      done({})
    }
  })

const textOf = (parts) => (parts ?? []).filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

// The beginning and the end of what a tool answered.
const shortened = (text) => (text.length > 4000 ? `${text.slice(0, 2000)}\n...\n${text.slice(-2000)}` : text)

export const Punchlist = async ({ client, directory }) => {
  const made = new Set() // sessions that began in this process: any other was there before it
  const known = new Set() // sessions that have spoken here
  const parents = {} // of the sessions of sub-agents
  const said = {} // an agent's last words
  const nudged = {} // what we nudged it with
  const idle = new Set() // sessions to which nobody has spoken since their turn ended
  const aborted = new Set() // sessions whose turn the user has interrupted
  const ends = process.argv.slice(2).find((word) => !word.startsWith("-")) === "run" // a plain `opencode run` ends with its turn
  const started = {} // when tools began, by the ids of their uses
  const models = {} // the model of each session
  const restored = {} // the plan, for a session that was compacted, and the message it goes with

  const who = (session) => (parents[session] ? { session: parents[session], agent: session } : { session })
  const tell = (moment, session, more = {}) => ask({ moment, ...who(session), cwd: directory, model: models[session], ...more })

  return {
    config: async (config) => {
      if (IN_PACKAGE) config.mcp = { punchlist: { type: "local", command: [PUNCHLIST, "mcp", "--plugin"], enabled: true }, ...config.mcp }
    },
    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      if (event.type === "session.created") made.add(info?.id)
      if (event.type === "session.created" && info?.parentID) parents[info.id] = info.parentID
      if (event.type === "session.compacted") {
        const { context } = await tell("start", sessionID, { source: "compact" })
        restored[sessionID] = context ? { text: context } : undefined
      }
      if (event.type === "session.error" && event.properties.error?.name === "MessageAbortedError") aborted.add(sessionID)
      if (event.type === "session.idle" && !parents[sessionID]) {
        const interrupted = aborted.delete(sessionID)
        idle.add(sessionID)
        const { nudge } = await tell("stop", sessionID, { said: said[sessionID] ?? "", interrupted, ends, limit: STOP_SECONDS })
        if (!nudge || !idle.has(sessionID)) return
        nudged[sessionID] = nudge
        await client.session.prompt({ path: { id: sessionID }, body: { parts: [{ type: "text", text: nudge, synthetic: true }] } })
      }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID ?? output.message?.sessionID
      const prompt = textOf(output.parts)
      idle.delete(session)
      const model = (output.message?.model ?? input.model)?.modelID
      if (typeof model === "string") models[session] = model
      if (!prompt || prompt === nudged[session]) return
      const source = made.has(session) ? "startup" : "resume"
      const again = known.has(session) || parents[session] ? {} : await tell("start", session, { source })
      known.add(session)
      const { context } = await tell("prompt", session, { prompt })
      const text = [again.context, context].filter(Boolean).join("\n")
      if (text) output.parts.push({ ...output.parts[0], id: `prt_zz${Date.now().toString(16)}`, type: "text", synthetic: true, text })
    },
    "experimental.text.complete": async (input, output) => {
      said[input.sessionID] = output.text
    },
    "experimental.chat.messages.transform": async (_input, output) => {
      const session = output.messages.at(-1)?.info?.sessionID
      const plan = restored[session]
      if (!plan) return
      const users = output.messages.filter((message) => message.info.role === "user")
      const message = users.find((one) => one.info.id === plan.message) ?? users.at(-1)
      if (!message) return
      plan.message = message.info.id // always the same, so that what was sent before stays as it was
      message.parts.push({ ...message.parts[0], id: "prt_zzzpunchlist", type: "text", synthetic: true, text: plan.text })
    },
    "tool.execute.before": async (input, output) => {
      started[input.callID] = Date.now()
      const command = output.args?.command ?? ""
      const wanted = /punchlist/.test(`${input.tool} ${command}`) || COMMITS.test(command)
      if (wanted) await tell("before", input.sessionID, { tool: input.tool, use: input.callID, args: output.args })
    },
    "tool.execute.after": async (input, output) => {
      const result = typeof output.output === "string" ? output.output : textOf(output.content)
      const exit = input.tool === "bash" ? output.metadata?.exit : undefined // null, if it was killed
      const failed = exit !== undefined && exit !== 0
      const ending = { failed, exit, no_exit: exit === null ? "it timed out or was killed" : undefined }
      const begun = started[input.callID]
      delete started[input.callID]
      const seconds = begun === undefined ? undefined : (Date.now() - begun) / 1000
      const more = { tool: input.tool, use: input.callID, args: input.args, result: shortened(result), seconds, ...ending }
      const { context } = await tell("after", input.sessionID, more)
      if (!context) return
      if (typeof output.output === "string") output.output += `\n\n${context}`
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: context })
    },
  }
}
