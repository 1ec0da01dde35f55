package main

// traceCases are what is measured of traces of a number of calls.
func traceCases(calls int) []traceCase {
	inserted := max(1, calls/1000)
	diff := func(args ...string) []string { return append([]string{"diff", "FILE_A", "FILE_B"}, args...) }
	return []traceCase{
		{name: "diff, identical", product: []string{"diff", "FILE_A", "FILE_EQUAL"}, peers: compared(cmpEqual, diffEqual), target: "0.6 cmp, 64 MB"},
		{name: "diff, 0.1 % of lines differ", other: &variant{renumber: true, changeEvery: 1000}, product: diff(), codes: []int{1}, peers: compared(diffPeer), target: "0.15 diff, 64 MB"},
		{name: "diff, every line in an ignored field", other: &variant{renumber: true, timed: true}, product: diff("--ignore", "/provider/meta/**"), peers: compared(cmpEqual, diffPeer), target: "2.5 cmp"},
		{name: "diff, keys in another order", other: &variant{renumber: true, swapped: true}, product: diff(), peers: compared(cmpEqual), target: "300 MB/s"},
		{name: "diff --only", other: &variant{renumber: true, timed: true}, product: diff("--only", "/response"), peers: compared(cmpEqual), target: ""},
		{name: "diff --tolerance", other: &variant{renumber: true, timed: true}, product: diff("--tolerance", "/provider/meta/ms=10"), peers: compared(cmpEqual), target: ""},
		{name: "diff --rename", other: &variant{renumber: true, changeEvery: 1000}, product: diff("--rename", "ids"), codes: []int{1}, peers: compared(cmpEqual), target: ""},
		{name: "diff, 1 in 1,000 inserted", other: &variant{renumber: true, addEvery: calls / inserted}, product: diff(), codes: []int{1}, peers: compared(diffPeer), target: "0.5 diff, 256 MB"},
		{name: "diff, 1 in 1,000 removed, numbers kept", other: &variant{dropEvery: calls / inserted}, product: diff(), codes: []int{1}, peers: compared(diffPeer), target: "0.5 diff, 256 MB"},
		{name: "filter, one field", product: []string{"filter", "FILE_A", "--status", "404"}, peers: compared(lines, wc, jqStatus, jqAll), target: "1200 MB/s"},
		{name: "filter, three conditions", product: []string{"filter", "FILE_A", "--kind", "read", "--status", "200", "--principal", "admin"}, peers: compared(lines), target: "700 MB/s"},
		{name: "assert, 20 rules", product: []string{"assert", "-f", "RULES", "FILE_A"}, codes: []int{1}, peers: compared(lines), target: "300 MB/s"},
	}
}

func compared(list ...func(*traceBench) traceRival) func(*traceBench) []traceRival {
	return func(b *traceBench) (out []traceRival) {
		for _, peer := range list {
			out = append(out, peer(b))
		}
		return out
	}
}

// cmpEqual is cmp on a pair that is equal to its end.
func cmpEqual(b *traceBench) traceRival {
	return traceRival{name: "cmp of equal files", args: []string{"cmp", b.a, b.equal}}
}

func diffEqual(b *traceBench) traceRival {
	return traceRival{name: "diff", args: []string{"diff", b.a, b.equal}}
}

func diffPeer(b *traceBench) traceRival {
	return traceRival{name: "diff", args: []string{"diff", b.a, b.b}, codes: []int{1}}
}

func lines(b *traceBench) traceRival {
	return traceRival{name: "lines", args: []string{b.self, "part-lines", b.a}}
}

func wc(b *traceBench) traceRival { return traceRival{name: "wc -l", args: []string{"wc", "-l", b.a}} }

func jqStatus(b *traceBench) traceRival {
	return traceRival{name: "jq select", args: []string{"jq", "-c", "select(.status == 404)", b.a}, once: true}
}

func jqAll(b *traceBench) traceRival {
	return traceRival{name: "jq -c .", args: []string{"jq", "-c", ".", b.a}, once: true}
}

// twentyRules are of every kind that a run without a contract allows.
const twentyRules = `schema: anvil.trace.rules/v1
rules:
  - {count: any, at_least: 1}
  - {count: {tool: helpdesk_list_tickets}, at_least: 1}
  - {count: {operation: helpdesk.tickets.get, status: 404}, at_least: 1}
  - {count: {status: 5xx}, exactly: 0}
  - {count: {kind: mutation}, exactly: 0}
  - {count: {principal: admin}, at_least: 1}
  - {none: {status: 5xx}}
  - {none: {code: conflict}}
  - {any: {operation: helpdesk.tickets.get, status: 200}, is: "response.status == 'open'"}
  - {every: {status: 404}, have: {/response/error/code: {equal: TICKET_NOT_FOUND}}}
  - {every: {tool: helpdesk_list_tickets}, have: {/response/next_cursor: {equal: "2"}}}
  - {every: {operation: helpdesk.tickets.get, status: 200}, have: {/response/id: {regexp: "^T-[0-9]+$"}}}
  - {sequence: [helpdesk.tickets.list, helpdesk.tickets.get]}
  - {never: {kind: mutation}, after: {status: 409}, same: id}
  - {each: {status: 409}, followed_by: {status: 200}, same: id}
  - {each: {kind: mutation}, preceded_by: {operation: helpdesk.tickets.get}, same: id}
  - {no_errors: true, except: [{code: not_found}]}
  - {budget: {calls: 100000000}}
  - {coverage: [helpdesk.tickets.list, helpdesk.tickets.get]}
  - {count: {tenant: acme}, exactly: 0}
`
