/** A piece of a row, and how it looks: words out of bold, dim, strike, good, now, bad. */
export type Piece = [text: string, style: string]

/** A row as Punchlist made it: harmless, and cut to the width of the screen. */
export type Row = { spans: Piece[]; id?: string; status?: string }

/** One line of `punchlist watch --json --size COLUMNSxROWS`. */
export type Panel = { plan: string; short: Row[]; long: Row[]; expanded: boolean }

declare module 'claude-code' {
  interface PluginState {
    punchlist: {
      panel: Shaped<Panel | null>
      open: boolean | null
      picked: string
    }
  }
}
