// Written by `punchlist install oh-my-pi`; `punchlist uninstall oh-my-pi` removes it.
const PUNCHLIST = "@PUNCHLIST@";

export default function (_pi: unknown): void {}
