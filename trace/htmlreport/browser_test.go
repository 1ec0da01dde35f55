//go:build browser

package htmlreport

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anvil-sim/anvil/trace"
)

// quiet fails when the page reported anything, or loaded anything but itself.
func (b *browser) quiet() {
	b.t.Helper()
	b.eval("1") // what was reported before has arrived
	for _, trouble := range b.troubles {
		b.t.Errorf("the page reported %s", trouble)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, "file://") && url != "about:blank" && url != "data:," {
			b.t.Errorf("the page loaded %s", url)
		}
	}
}

func pageFile(t *testing.T, run, baseline string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(render(t, run, baseline)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A person's way through a run of 10,000 calls.
func TestBrowserTenThousandCalls(t *testing.T) {
	run, baseline := manyCalls(10_000)
	file := pageFile(t, run, baseline)
	b := startBrowser(t)
	b.open(file, "", "light", 1440, 900)
	b.until(`document.querySelectorAll(".row").length > 10`)
	if n := b.eval(`document.querySelectorAll(".row").length`).(float64); n > 60 {
		t.Errorf("%v rows are elements, want only those in view", n)
	}
	if load := b.eval(`performance.getEntriesByType("navigation")[0].domComplete`).(float64); load > 8000 {
		t.Errorf("loading took %v ms", load)
	} else {
		t.Logf("loading took %.0f ms", load)
	}
	b.shoot("many-light")
	b.until(`document.getElementById("count").textContent === "10,001 calls"`) // with one missing call

	// The first difference opens from the head of the page.
	b.eval(`document.getElementById("first").click()`)
	b.until(`document.querySelector("#detail h2").textContent === "Call 5"`)
	b.until(`location.hash === "#5"`)
	b.until(`[...document.querySelectorAll(".ln.del")].some((e) => e.textContent.includes('"open"'))`)
	b.until(`[...document.querySelectorAll(".ln.add")].some((e) => e.textContent.includes('"closed"'))`)
	b.shoot("difference-light")
	b.eval(`[...document.querySelectorAll(".findings button")].find((e) => e.textContent === "/result/output/state").click()`)
	b.until(`document.querySelector(".ln.here").dataset.path === "/result/output/state" && document.querySelector(".ln.here").closest("details").open`)

	// Keys: next difference, next call, text, enter, escape.
	b.key("n")
	b.until(`location.hash === "#base-1000"`)
	b.shoot("missing-light")
	b.key("j")
	b.until(`location.hash === "#1000"`)
	b.key("k")
	b.until(`location.hash === "#base-1000"`)
	b.key("/")
	b.until(`document.activeElement.id === "text"`)
	b.typeText(`needle 7777`)
	b.until(`document.getElementById("count").textContent === "1 of 10,001 calls"`)
	b.key("Enter")
	b.until(`document.querySelector("#detail h2").textContent === "Call 7777"`)
	b.key("Escape")
	b.until(`document.getElementById("detail").textContent.startsWith("Choose a call")`)

	// Filters by tool, status and difference.
	b.eval(`clear.click(); tool.value = "tickets_create"; tool.dispatchEvent(new Event("change"))`)
	b.until(`document.getElementById("count").textContent === "1,000 of 10,001 calls"`)
	b.eval(`clear.click(); document.getElementById("status").value = "4xx"; document.getElementById("status").dispatchEvent(new Event("change"))`)
	b.until(`document.getElementById("count").textContent === "100 of 10,001 calls"`)
	b.eval(`clear.click(); change.value = "any"; change.dispatchEvent(new Event("change"))`)
	b.until(`document.getElementById("count").textContent === "3 of 10,001 calls"`)
	b.shoot("filtered-light")
	b.eval(`document.getElementById("text").value = "no such text"; document.getElementById("text").dispatchEvent(new Event("input"))`)
	b.until(`!document.getElementById("none").hidden`)

	// A link opens a call far down, also one that the filters hide.
	b.eval(`location.hash = "#9990"`)
	b.until(`document.querySelector("#detail h2").textContent === "Call 9990" && document.querySelector("[aria-selected=true]")`)
	b.open(file, "#9000", "dark", 1440, 900)
	b.until(`document.querySelector("#detail h2").textContent === "Call 9000"`)
	b.shoot("link-dark")
	b.quiet()
}

// What a trace says is shown and never run.
func TestBrowserHostile(t *testing.T) {
	run, baseline := hostile()
	file := pageFile(t, run, baseline)
	b := startBrowser(t)
	b.open(file, "", "dark", 1440, 900)
	scripts := b.eval(`document.querySelectorAll("script").length`).(float64)
	b.key("n")
	b.until(`document.querySelector("#detail .findings")`)
	b.shoot("hostile-dark")
	for range 3 {
		b.key("j")
	}
	b.eval(`for (const view of document.querySelectorAll(".views button")) view.click()`)
	if got := b.eval(`typeof window.pwned + document.querySelectorAll("img, iframe, svg, a[href^=javascript]").length`); got != "undefined0" {
		t.Errorf("content of the trace became part of the page: %v", got)
	}
	if n := b.eval(`document.querySelectorAll("script").length`).(float64); n != scripts || n > 5 {
		t.Errorf("%v script elements, %v at first", n, scripts)
	}
	b.until(`document.getElementById("detail").textContent.includes("<script>window.pwned")`)
	b.until(`!/[\u202e\u0007]/.test(document.body.innerText)`)
	b.quiet()
	// The policy stops a script that something else brings in.
	b.eval(`(() => { const s = document.createElement("script"); try { s.textContent = "window.pwned = 1"; document.body.append(s); } catch {} })()`)
	if got := b.eval(`typeof window.pwned`); got != "undefined" {
		t.Errorf("the policy let a script run")
	}
}

// The looks: both schemes, a narrow window, keys, no baseline, a recorded run.
func TestBrowserLooks(t *testing.T) {
	recorded, err := os.ReadFile("../testdata/recorded/store-lifecycle.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	run, baseline := everyChange()
	b := startBrowser(t)
	for _, scheme := range []string{"light", "dark"} {
		file := pageFile(t, run, baseline)
		b.open(file, "#3", scheme, 1440, 1000)
		b.until(`document.querySelector(".ln.add")`)
		b.shoot("changes-" + scheme)
		b.open(pageFile(t, string(recorded), ""), "#2", scheme, 1280, 860)
		b.until(`document.querySelector("#detail h2")`)
		b.shoot("recorded-" + scheme)
		b.key("?")
		b.until(`document.getElementById("help").open`)
		b.shoot("keys-" + scheme)
		b.open(file, "", scheme, 420, 800)
		b.until(`document.querySelector(".row")`)
		b.shoot("narrow-" + scheme)
		b.eval(`document.querySelector(".row").click()`)
		b.shoot("narrow-open-" + scheme)
	}
	if contrast := b.eval(contrastJS); contrast != "" {
		t.Errorf("text that is hard to read: %v", contrast)
	}
	b.quiet()
}

// Several runs in one page, a page without a difference, and what a screen reader
// is told.
func TestBrowserRunsAndNames(t *testing.T) {
	run, baseline := everyChange()
	var out bytes.Buffer
	old := trace.Input{Name: "golden.jsonl", Reader: strings.NewReader(baseline + baseline)}
	o := Options{Diff: trace.DiffOptions{Run: "all", Ignore: []string{"/provider/**"}}}
	if _, err := Write(context.Background(), &out, trace.Input{Name: "run.jsonl", Reader: strings.NewReader(run + run)}, &old, &o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "runs.html")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	b := startBrowser(t)
	b.open(file, "#2.3", "dark", 1440, 900)
	b.until(`document.querySelector("#detail h2").textContent === "Call 2.3"`)
	b.shoot("runs-dark")
	for _, view := range []string{"This run", "Baseline", "Differences"} {
		b.eval(`[...document.querySelectorAll(".views button")].find((e) => e.textContent === "` + view + `").click()`)
		b.until(`document.querySelector(".views [aria-pressed=true]").textContent === "` + view + `"`)
	}
	b.call("Accessibility.enable", nil)
	named := 0
	for _, node := range b.call("Accessibility.getFullAXTree", nil)["nodes"].([]any) {
		n := node.(map[string]any)
		role, _ := n["role"].(map[string]any)["value"].(string)
		switch role {
		case "button", "searchbox", "combobox", "listbox", "option", "article", "region", "heading", "dialog":
			if name, _ := n["name"].(map[string]any)["value"].(string); strings.TrimSpace(name) == "" && n["ignored"] != true {
				t.Errorf("a %s has no name: %v", role, n)
			}
			named++
		}
	}
	if named < 20 {
		t.Errorf("%d named parts, want more", named)
	}
	if got := b.eval(`document.getElementById(list.getAttribute("aria-activedescendant")).getAttribute("aria-selected")`); got != "true" {
		t.Errorf("the active option is not the selected one: %v", got)
	}
	b.open(pageFile(t, run, run), "", "light", 1280, 860)
	b.until(`document.getElementById("verdict").textContent.includes("equal, byte for byte")`)
	b.key("j")
	b.until(`document.querySelector("#detail h2").textContent === "Call 1"`)
	b.shoot("equal-light")
	b.quiet()
}

// One answer of many lines, one of a long text, and deep nesting: the page shows
// the start at once and the rest when it is asked for.
func TestBrowserLongValues(t *testing.T) {
	items := strings.Repeat(`{"subject":"printer","state":"open","n":1},`, 20_000)
	deep := strings.Repeat("[", 400) + strings.Repeat("]", 400)
	run := call(1, "GET", "/many", "t", 200, "["+items+`{"last":true}]`) + call(2, "GET", "/long", "t", 200, `"`+strings.Repeat("long ", 1_000_000)+`"`) +
		call(3, "GET", "/deep", "t", 200, deep)
	b := startBrowser(t)
	b.open(pageFile(t, run, ""), "", "light", 1440, 900)
	b.until(`document.querySelectorAll(".row").length === 3`)
	if ms := b.eval(`(() => { const from = performance.now(); document.querySelector(".row").click(); return performance.now() - from; })()`).(float64); ms > 30000 {
		t.Errorf("opening a call of many lines took %.0f ms", ms)
	} else {
		t.Logf("opening a call of many lines took %.0f ms", ms)
	}
	b.until(`document.querySelectorAll("#detail .ln").length < 20000`)
	b.eval(`document.querySelector("#detail .more").click()`)
	b.until(`document.querySelectorAll("#detail .ln").length > 6000 && document.querySelector("#detail .more")`)
	b.key("j")
	b.until(`[...document.querySelectorAll("#detail button.link")].some((e) => e.textContent.includes("more characters"))`)
	b.key("j")
	b.until(`document.querySelector("#detail h2").textContent === "Call 3"`)
	b.until(`document.querySelectorAll("#detail .ln").length > 800`)
	b.quiet()

	// A difference far down is found from its path.
	b.open(pageFile(t, strings.Replace(run, `"last":true`, `"last":false`, 1), run), "#1", "light", 1440, 900)
	b.until(`document.querySelector(".findings button")`)
	b.eval(`[...document.querySelectorAll(".findings button")].at(-1).click()`)
	b.until(`document.querySelector(".ln.here").dataset.path === "/provider/result/20000/last"`)
	b.quiet()
}

// contrastJS lists texts with a contrast below 4.5 to 1 (WCAG AA).
var contrastJS = fmt.Sprintf(`(() => {
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const lum = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const bad = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || e.getClientRects().length === 0) continue;
		let bg = null;
		for (let p = e; p && !bg; p = p.parentElement) {
			const c = parse(getComputedStyle(p).backgroundColor);
			if (c.length === 3 || c[3] === 1) bg = c;
		}
		const a = lum(parse(getComputedStyle(e).color)), z = lum(bg || [255, 255, 255]);
		const ratio = (Math.max(a, z) + 0.05) / (Math.min(a, z) + 0.05);
		if (ratio < %v) bad.add(e.tagName + "." + e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30));
	}
	return [...bad].join("; ");
})()`, 4.5)
