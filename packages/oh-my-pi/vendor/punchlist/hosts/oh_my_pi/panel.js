// Written by `punchlist install oh-my-pi`; `punchlist uninstall oh-my-pi` removes it.
// Shows the plan above the prompt of oh-my-pi and pi, and carries out `/punchlist add ...` at once. Whatever fails, the agent goes on as without it.
// @SHARED@

// --- oh-my-pi and pi ---------------------------------------------------------------------------------------------------

const COMMAND = "punchlist"
const LONG = 40 // lines of an answer
const TALL = [[45, 8], [34, 6], [28, 4], [0, 1]] // rows of the terminal, and how many items are shown then
const STYLES = { in_progress: "accent", blocked: "warning", completed: "dim", abandoned: "dim", pending: "muted" }

// Lines for a screen of this size. `paint` has a style for a text.
function linesOf(plan, { width, height, shown, paint }) {
  const room = Math.max(width - 2, 1) // a cell on either side
  const clip = (parts) => {
    let left = room
    return ` ${parts.map(([style, text]) => {
      const words = fit(text, left)
      left -= widthOf(words)
      return words && paint(style, words)
    }).join("")}`
  }
  const over = plan.done === plan.total
  const limit = shown === "list" ? Math.max(Math.floor(height / 2), 4) : TALL.find(([rows]) => height >= rows)[1]
  const folded = shown === "line" || (over && shown !== "list")
  const head = [["bold", "Plan "], [over ? "success" : "text", progress(plan)]]
  if (plan.blocked) head.push(["warning", ` · ${plan.blocked} blocked`])
  if (plan.mode) head.push(["warning", ` · ${plan.mode} mode`])
  const now = plan.active[0]
  if ((folded || limit === 1) && now) head.push(["muted", " · "], ["accent", `${SIGNS.in_progress} ${now.id} ${now.text}`])
  if ((folded || limit === 1) && !now && plan.next) head.push(["muted", ` · next ${plan.next.id} ${plan.next.text}`])
  if (plan.paused && (folded || limit === 1)) head.splice(2, 0, ["warning", ` · ⏸ ${plan.paused}`])
  const lines = [clip(head)]
  if (folded) return lines
  if (limit === 1) return now && plan.next ? [...lines, clip([["muted", `next ${plan.next.id} ${plan.next.text}`]])] : lines
  if (plan.paused) lines.push(clip([["warning", `⏸ paused: ${plan.paused}`]]))
  for (const { item, phase, more } of rowsOf(plan, limit)) {
    if (!item) {
      lines.push(clip([["dim", phase ?? `  … ${more}`]]))
      continue
    }
    const sign = item.grade === "verified" ? "✔" : SIGNS[item.status]
    const parts = [[item.status === "completed" ? "success" : STYLES[item.status], `${"  ".repeat(item.depth)}${sign} `]]
    const tail = item.grade || (item.reason && `blocked: ${item.reason}`)
    const text = `${item.id} ${item.text}`
    const end = tail ? fit(`  ${tail}`, Math.max(Math.floor(room / 2), 12)) : ""
    parts.push([isNext(plan, item) ? "text" : STYLES[item.status], fit(text, Math.max(room - 2 - 2 * item.depth - widthOf(end), 8))])
    if (end) parts.push([item.grade === "failed" ? "error" : item.reason ? "warning" : "dim", end])
    lines.push(clip(parts))
  }
  return lines
}

export default function (pi) {
  if (!isDrawing()) return
  const host = "oh-my-pi"
  let ctx // of the session that is shown
  let who = {}
  let watch, key, plan, screen
  let known = [] // what can be typed, with what it does
  let shown = "" // list: all that fits; line: one line; otherwise a few rows around what is active

  const quietly = (what) => {
    try {
      return what()
    } catch {
      return undefined // an old context, or a program without this
    }
  }

  const widget = (tui, theme) => {
    screen = tui
    const paint = (style, text) => {
      if (style === "bold") return theme.bold(text)
      return theme.fg(style, text)
    }
    return {
      invalidate() {},
      render: (width) => {
        const height = tui?.terminal?.rows ?? process.stdout.rows ?? 24
        return quietly(() => linesOf(plan, { width, height, shown, paint })) ?? []
      },
    }
  }

  const draw = () => {
    if (!plan?.total) {
      if (screen) quietly(() => ctx.ui.setWidget(COMMAND, undefined))
      screen = undefined
    } else if (screen) quietly(() => screen.requestRender())
    else quietly(() => ctx.ui.setWidget(COMMAND, widget))
  }

  const close = () => {
    watch?.stop()
    key?.stop()
    watch = key = plan = undefined
    draw()
  }

  const open = (_event, now) => {
    const session = process.env.PUNCHLIST_SESSION || quietly(() => now?.sessionManager?.getSessionId?.())
    if (!session || !quietly(() => now.hasUI)) return
    if (watch && session === who.session) return
    close()
    ctx = now
    who = { session }
    key = registered(host, ctx.cwd)
    watch = following(who, ctx.cwd, (changed) => ((plan = changed), draw()))
    if (!known.length) void verbs(ctx.cwd).then((found) => (known = found))
  }

  const typed = async (line, now) => {
    quietly(() => open(undefined, now))
    const say = (text, kind) => quietly(() => now.ui.notify(text, kind))
    if (!line.trim() && plan?.total) {
      shown = shown === "list" ? "line" : shown === "line" ? "" : "list"
      return draw()
    }
    if (!who.session) return say("the session has no name yet", "warning")
    const { ok, lines } = await carried(line, { called: COMMAND, who, cwd: ctx?.cwd, ready: key?.ready })
    say(lines.slice(0, LONG).join("\n"), ok ? "info" : "warning")
  }

  const completions = (prefix) => {
    if (/\s/.test(prefix)) return null
    const found = known.some(([verb]) => verb === prefix) ? [] : known.filter(([verb]) => verb.startsWith(prefix))
    return found.length ? found.map(([verb, description]) => ({ value: verb, label: verb, description })) : null
  }

  for (const event of ["session_start", "session_switch", "session_branch", "before_agent_start"]) pi.on(event, (_event, now) => void quietly(() => open(_event, now)))
  pi.on("session_shutdown", () => void quietly(close))
  const command = { description: "the plan: show, add, start, done, drop, undo, pause, resume, verify", getArgumentCompletions: completions, handler: typed }
  pi.registerCommand(COMMAND, command)
  if (pi.logger === undefined) pi.registerCommand("plan", command) // oh-my-pi has a command of this name
}
