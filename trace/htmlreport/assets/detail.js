"use strict";

// What the page says of one call.

function welcome() {
  const e = el("div", {class: "hint"}, el("p", {}, "Choose a call to see its request and its response."),
    el("p", {}, el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " go through the calls, ", el("kbd", {}, "/"), " filters them, ", el("kbd", {}, "?"), " lists all keys."));
  if (data.baseline) e.append(el("p", {}, el("kbd", {}, "n"), " goes to the next difference. A call that differs shows both values: ",
    "what stands only in the baseline with a minus, what stands only in this run with a plus."));
  return e;
}

// editsOf sorts the findings of a change by path, and what was added by its parent.
function editsOf(change) {
  const edits = {at: new Map(), added: new Map(), keys: new Set()};
  for (const f of change.findings) {
    edits.keys.add(topKey(f.path));
    if (f.kind !== "added") {
      edits.at.set(f.path, f);
      continue;
    }
    const cut = f.path.lastIndexOf("/");
    const parent = f.path.slice(0, cut);
    f.key = f.path.slice(cut + 1).replace(/~1/g, "/").replace(/~0/g, "~");
    if (!edits.added.has(parent)) edits.added.set(parent, []);
    edits.added.get(parent).push(f);
  }
  return edits;
}

// topKey is the key of the entry that a path goes through.
const topKey = (path) => (path.split("/")[1] || "").replace(/~1/g, "/").replace(/~0/g, "~");

const viewNames = {both: "Differences", run: "This run", base: "Baseline"};

function detail(r, wanted) {
  const change = r.change === undefined ? null : data.changes[r.change];
  const views = r.line < 0 ? ["base"] : r.base < 0 ? ["run"] : ["both", "run", "base"];
  const view = views.includes(wanted) ? wanted : views[0];
  const entry = parseJSON(view === "run" ? runLine(r.line) : baseLine(r.base));
  const edits = view === "both" ? editsOf(change) : null;
  const out = [head(r), el("p", {class: "target-line"}, ...(r.target ? [el("span", {class: "method"}, plain(r.method)), " " + plain(r.target)] : [plain(target(r))])), facts(r, entry)];
  if (change) out.push(findings(r, change));
  if (views.length > 1) out.push(switcher(r, view, views));
  out.push(el("div", {class: "pair"}, requestCard(entry, edits), responseCard(entry, edits)), ...rest(entry, edits));
  return out;
}

function head(r) {
  const at = shown.indexOf(r);
  const button = (text, by, off) => el("button", {type: "button", disabled: off, on: {click: () => step(by)}}, text);
  return el("div", {class: "head"}, el("h2", {}, callName(r)), el("span", {class: "pill " + statusClass(r)}, statusText(r)),
    el("div", {class: "do"}, button("Previous", -1, at <= 0), button("Next", 1, at === shown.length - 1),
      el("button", {type: "button", on: {click: close}}, "Close")));
}

function facts(r, entry) {
  const dl = el("dl", {class: "facts"});
  const add = (name, node) => {
    const text = typeof node === "string" ? node : node && node.t !== "l" ? String(node.v) : "";
    if (text) dl.append(el("div", {}, el("dt", {}, name), el("dd", {}, plain(text))));
  };
  const normalized = member(entry, "normalized");
  add("tool", r.tool);
  add("operation", member(entry, "operationId"));
  add("code", r.code);
  add("request id", member(entry, "requestId"));
  add("principal", member(member(normalized, "principal"), "id"));
  add("tenant", member(normalized, "tenantId"));
  add("transport", member(entry, "transport"));
  add("source", r.source);
  return dl;
}

function findings(r, c) {
  const said = {changed: plural(c.count, "difference"), missing: "This call stands only in the baseline",
    inserted: "This call stands only in this run", moved: "Moved: call " + c.old + " of the baseline" + (c.count > 0 ? ", " + plural(c.count, "difference") : "")}[c.kind];
  const box = el("section", {class: "findings " + c.kind, "aria-label": "Differences"}, el("h3", {}, symbols[c.kind] + " " + said + "; stage: " + c.stage));
  const list = el("ul");
  for (const group of grouped(c.findings)) list.append(el("li", {}, ...finding(group)));
  if (list.children.length > 0) box.append(list);
  if (c.more > 0) box.append(el("p", {class: "quiet"}, "and " + plural(c.more, "more difference") + ", see 'anvil-trace diff'"));
  return box;
}

const plural = (n, what) => n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");

// grouped puts findings together that say the same of one field at several places.
function grouped(list) {
  const groups = new Map();
  for (const f of list) {
    const key = JSON.stringify([f.kind, f.path.slice(f.path.lastIndexOf("/")), f.old, f.neu]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(f);
  }
  return [...groups.values()];
}

function finding(group) {
  const f = group[0];
  const links = group.map((g) => el("button", {type: "button", class: "link mono", on: {click: () => goTo(g.path)}}, plain(g.path) || "the line"));
  const out = [el("div", {class: "paths"}, ...links, f.kind === "changed" ? null : el("span", {class: "note"}, f.kind))];
  const pre = el("pre", {class: "json"});
  const show = (text, cls, range) => {
    const node = parseJSON(text);
    const short = node.t === "o" || node.t === "a" ? plain(text.length > 300 ? text.slice(0, 300) + "…" : text) : scalar(node, range);
    pre.append(el("span", {class: "ln " + cls}, short));
  };
  const both = f.old !== undefined && f.neu !== undefined;
  const [x, y] = both ? unlike(parseJSON(f.old), parseJSON(f.neu)) : [null, null];
  if (f.old !== undefined) show(f.old, "del", x);
  if (f.neu !== undefined) show(f.neu, "add", y);
  if (pre.children.length > 0) out.push(pre);
  return out;
}

// goTo shows the place of a finding, in the view of both.
function goTo(path) {
  const find = () => [...$("detail").querySelectorAll(".ln[data-path]")].find((e) => e.dataset.path === path);
  if (selected && selected.line >= 0 && selected.base >= 0) open(selected, "both");
  for (const box of $("detail").querySelectorAll("details")) {
    if (!box.keys.includes(topKey(path))) continue;
    box.open = true;
    box.fill();
  }
  let line = find();
  if (!line) {
    for (const box of $("detail").querySelectorAll(".value")) if (box.key === topKey(path)) box.reveal(path);
    line = find();
  }
  if (!line) return;
  for (const e of $("detail").querySelectorAll(".here")) e.classList.remove("here");
  line.classList.add("here");
  line.scrollIntoView({block: "center"});
}

function switcher(r, view, views) {
  const notes = {both: "the baseline's values, with what differs in this run", run: "as this run recorded it", base: "as the baseline has it"};
  return el("div", {class: "views", role: "group", "aria-label": "What to show"},
    ...views.map((v) => el("button", {type: "button", "aria-pressed": String(v === view), on: {click: () => open(r, v)}}, viewNames[v])),
    el("span", {class: "note"}, notes[view]));
}

// part shows the value of a key of the entry, null when neither side has it.
function part(entry, edits, key) {
  const node = member(entry, key);
  const added = edits && (edits.added.get("") || []).find((f) => f.key === key);
  if (!node && !added) return null;
  const p = new Printer(edits);
  const none = () => [];
  const e = p.element(node ? p.value(node, "/" + key, 0, none, "") : p.value(parseJSON(added.neu), "/" + key, 0, none, "", "add"));
  e.key = key;
  return e;
}

// isEmpty tells whether a key is null and no difference.
function isEmpty(entry, edits, key) {
  const node = member(entry, key);
  return node && node.t === "l" && node.v === "null" && !(edits && edits.keys.has(key));
}

function requestCard(entry, edits) {
  return el("section", {class: "card", "aria-label": "Request"}, el("h3", {}, "Request"),
    part(entry, edits, "request") || el("p", {class: "quiet"}, "No request was recorded."));
}

function responseCard(entry, edits) {
  const card = el("section", {class: "card", "aria-label": "Response"}, el("h3", {}, "Response"));
  for (const [key, name] of [["status", "Status"], ["headers", "Headers"], ["response", "Body"]]) {
    const e = part(entry, edits, key);
    if (e) card.append(el("h4", {}, name), isEmpty(entry, edits, key) ? el("p", {class: "quiet"}, "empty") : e);
  }
  if (card.children.length === 1) { // in process the result is the answer
    card.append(part(entry, edits, "result") || el("p", {class: "quiet"}, "No response was recorded."));
  }
  return card;
}

const sideBySide = new Set(["request", "status", "headers", "response"]);
const between = [["normalized", "Normalized request", "what the provider was asked"], ["provider", "Provider answer", ""],
  ["result", "Result", "before it was written as HTTP"], ["warnings", "Warnings", ""]];

// folded is a part of the page that is made when it is opened; what differs is
// open from the start.
function folded(keys, edits, name, note, make) {
  const box = el("details", {class: "card"}, el("summary", {}, name, note && el("span", {class: "note"}, "  " + note)));
  box.keys = keys;
  box.fill = () => {
    box.fill = () => {};
    box.append(...make());
  };
  box.addEventListener("toggle", () => box.open && box.fill());
  if (edits && keys.some((k) => edits.keys.has(k))) {
    box.open = true;
    box.fill();
  }
  return box;
}

function rest(entry, edits) {
  const added = ((edits && edits.added.get("")) || []).map((f) => f.key);
  const has = (key) => member(entry, key) || added.includes(key);
  const out = between.filter(([key]) => has(key)).map(([key, name, note]) =>
    folded([key], edits, name, isEmpty(entry, edits, key) ? "none: no provider was asked" : note, () => [part(entry, edits, key)]));
  const named = new Set([...sideBySide, ...between.map(([key]) => key)]);
  const others = [...new Set([...entry.m.map(([k]) => k), ...added])].filter((k) => !named.has(k));
  if (others.length > 0) {
    out.push(folded(others, edits, "Other keys of the entry", "", () => others.flatMap((k) => [el("h4", {}, plain(k)), part(entry, edits, k)])));
  }
  return out;
}

start();
