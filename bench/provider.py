"""A state provider as short as it can be: one fixed ticket."""
import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    method = request["method"]
    if method == "initialize":
        result = {"protocolVersion": 1}
    elif method == "invoke":
        result = {"ok": True, "result": {
            "id": request["params"]["params"]["path"]["id"], "subject": "Printer", "status": "open",
            "priority": 3, "urgent": False, "created_at": "2026-01-01T00:00:00Z"}}
    else:
        result = None
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
    if method == "shutdown":
        break
