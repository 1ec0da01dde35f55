//go:build browser

package htmlreport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A browser is one headless Chromium with one page, spoken to over a pipe: JSON
// messages that end in a zero byte (the DevTools protocol).
type browser struct {
	t        *testing.T
	ctx      context.Context
	in       *bufio.Reader
	out      io.Writer
	id       int
	session  string
	troubles []string // what the console, the page or the network reported
	requests []string // what was loaded
}

func startBrowser(t *testing.T) *browser {
	t.Helper()
	exe := os.Getenv("CHROMIUM")
	if exe == "" {
		exe = "chromium"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	fromUs, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toUs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + t.TempDir(), "--no-first-run",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars=false", "about:blank"}
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...) // Chromium's sandbox does not start for root
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v; install the package chromium or set CHROMIUM", exe, err)
	}
	fromUs.Close()
	toUs.Close()
	b := &browser{t: t, ctx: ctx, in: bufio.NewReader(fromBrowser), out: toBrowser}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil)
		toBrowser.Close()
		io.Copy(io.Discard, fromBrowser)
		cmd.Wait()
		cancel()
	})
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	attached := b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})
	b.session = attached["sessionId"].(string)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
	return b
}

type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result map[string]any
	Error  *struct{ Message string }
}

func (b *browser) read() message {
	b.t.Helper()
	raw, err := b.in.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser went away: %v", err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimRight(raw, "\x00"), &m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening":
		b.troubles = append(b.troubles, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		json.Unmarshal(m.Params, &p)
		b.requests = append(b.requests, p.Request.URL)
	}
	return m
}

func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.id++
	msg := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		delete(msg, "params")
	}
	if b.session != "" {
		msg["sessionId"] = b.session
	}
	raw, err := json.Marshal(msg)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(raw, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read()
		if m.ID != b.id {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		return m.Result
	}
}

// open loads a file in a window of a size and a colour scheme.
func (b *browser) open(file, fragment, scheme string, width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": scheme}}})
	b.call("Page.navigate", map[string]any{"url": "about:blank"})
	b.until("location.href === 'about:blank'")
	b.call("Page.navigate", map[string]any{"url": "file://" + file + fragment})
	b.until("location.protocol === 'file:' && document.readyState === 'complete'")
}

// eval runs an expression in the page and returns its value.
func (b *browser) eval(expr string) any {
	b.t.Helper()
	res := b.call("Runtime.evaluate", map[string]any{"expression": expr, "returnByValue": true, "awaitPromise": true})
	if res["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expr, res["exceptionDetails"])
	}
	return res["result"].(map[string]any)["value"]
}

// until waits for an expression to be true: the page looks at every frame, for
// ten seconds.
func (b *browser) until(expr string) {
	b.t.Helper()
	ok := b.eval(fmt.Sprintf(`new Promise((done) => {
		const end = performance.now() + 60000;
		const look = () => (%s) ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 10);
		look();
	})`, expr))
	if ok != true {
		b.t.Fatalf("never true: %s", expr)
	}
}

func (b *browser) key(key string) {
	b.t.Helper()
	down := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		down["text"] = key
	}
	if key == "Enter" {
		down["text"] = "\r"
	}
	b.call("Input.dispatchKeyEvent", down)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
}

func (b *browser) typeText(text string) { b.call("Input.insertText", map[string]any{"text": text}) }

// shoot keeps a picture of the window, in the folder SCREENSHOTS when it is set.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	res := b.call("Page.captureScreenshot", map[string]any{"format": "png"})
	png, err := base64.StdEncoding.DecodeString(res["data"].(string))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
