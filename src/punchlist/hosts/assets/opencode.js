// Written by `punchlist install opencode`; `punchlist uninstall opencode` removes it.
const PUNCHLIST = "@PUNCHLIST@";

export const Punchlist = async () => ({});
