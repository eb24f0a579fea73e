"""The least that is an MCP server: one tool that returns what it is given. The yardstick of `bench.mcp`."""

import json
import sys

TOOL = {"name": "echo", "description": "Returns its text.", "inputSchema": {"type": "object"}}


def result(method: str, params: dict[str, object]) -> dict[str, object]:
    if method == "initialize":
        about = {"name": "echo", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    return {"content": [{"type": "text", "text": json.dumps(params["arguments"])}], "isError": False}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result(message["method"], message.get("params", {}))}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
