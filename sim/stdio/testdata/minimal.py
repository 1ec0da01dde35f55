import json, sys

ROWS = [{"id": f"T-{n}", "title": f"Ticket {n}"} for n in range(1, 6)]

def answer(req):
    if req["kind"] == "list":
        start = int(req["page"]["cursor"] or 0)
        end = start + req["page"]["size"]
        return {"ok": True, "items": ROWS[start:end],
                "nextCursor": str(end) if end < len(ROWS) else None}
    if req["kind"] == "read":
        row = next((r for r in ROWS if r["id"] == req["params"]["path"].get("ticket_id")), None)
        if row is None:
            return {"ok": False, "error": {"code": "not_found", "message": "no such ticket"}}
        return {"ok": True, "result": row}
    return {"ok": False, "error": {"code": "unsupported_operation"}}

for line in sys.stdin:
    msg = json.loads(line)
    method = msg["method"]
    if method == "initialize":
        result = {"protocolVersion": 1}
    elif method == "invoke":
        result = answer(msg["params"])
    else:  # shutdown
        result = None
    print(json.dumps({"jsonrpc": "2.0", "id": msg["id"], "result": result}), flush=True)
    if method == "shutdown":
        break
