"use strict";

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("index").textContent);
const rows = data.rows;
const rowHeight = 50;

// Lines are read from their elements when one of them is wanted.
function lineReader(cls) {
  const chunks = [...document.querySelectorAll("script." + cls)].map((e) => ({from: Number(e.dataset.from), e, lines: null}));
  return (n) => {
    let lo = 0;
    for (let hi = chunks.length; hi - lo > 1; ) {
      const mid = (lo + hi) >> 1;
      if (chunks[mid].from <= n) lo = mid;
      else hi = mid;
    }
    const c = chunks[lo];
    if (!c.lines) c.lines = JSON.parse(c.e.textContent);
    return c.lines[n - c.from];
  };
}
const runLine = lineReader("line");
const baseLine = lineReader("base");

const many = data.run.count > 1 || (data.baseline && data.baseline.count > 1); // several runs in one page
const number = (r) => (many ? r.run + "." : "") + r.seq;
rows.forEach((r, i) => {
  r.i = i;
  r.id = (r.line < 0 ? "base-" : "") + number(r);
  r.kind = r.change === undefined ? "" : data.changes[r.change].kind;
});
const rowOf = new Map(rows.map((r) => [r.id, r]).reverse()); // of equal ids the first

const symbols = {changed: "±", missing: "−", inserted: "+", moved: "↕"};
const callName = (r) => "Call " + (r.line < 0 ? number(r) + " of the baseline" : r.id);
const target = (r) => (r.target ? r.method + " " + r.target : r.tool || "no operation");

function statusClass(r) {
  if (r.status >= 500) return "bad";
  if (r.status >= 400) return "warn";
  if (r.status >= 300) return "info";
  if (r.status >= 200) return "good";
  return r.code ? "warn" : "";
}

const statusText = (r) => (r.status ? String(r.status) : r.code ? "error" : "ok");

// ---- filters

let shown = rows;
let selected = null; // a row
const lower = new Map(); // of what was searched, by row

function haystack(r) {
  let text = lower.get(r.i);
  if (text === undefined) {
    const line = r.line >= 0 ? runLine(r.line) : "";
    const old = r.base >= 0 ? baseLine(r.base) : "";
    text = (target(r) + "\n" + r.id + "\n" + line + "\n" + old).toLowerCase();
    lower.set(r.i, text);
  }
  return text;
}

function matcher() {
  const terms = $("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  // A term is looked for as it is and as JSON spells it.
  const spelled = terms.map((t) => JSON.stringify(t).slice(1, -1));
  const tool = $("tool").value, status = $("status").value, change = $("change").value;
  return (r) => {
    if (tool && (r.tool || "-") !== tool) return false;
    if (status && !statusIs(r, status)) return false;
    if (change === "any" ? !r.kind : change === "none" ? r.kind : change && r.kind !== change) return false;
    if (terms.length === 0) return true;
    const text = haystack(r);
    return terms.every((t, i) => text.includes(t) || text.includes(spelled[i]));
  };
}

function statusIs(r, want) {
  if (want.endsWith("xx")) return Math.floor(r.status / 100) === Number(want[0]);
  return statusText(r) === want;
}

function filter() {
  shown = rows.filter(matcher());
  const all = rows.length.toLocaleString("en"), some = shown.length.toLocaleString("en");
  $("count").textContent = shown.length === rows.length ? all + (rows.length === 1 ? " call" : " calls") : some + " of " + all + " calls";
  $("none").hidden = shown.length > 0;
  $("space").style.height = shown.length * rowHeight + "px";
  drawn = "";
  if (selected && shown.includes(selected)) reveal(selected);
  draw();
}

function clearFilters() {
  for (const id of ["text", "tool", "status", "change"]) $(id).value = "";
  filter();
}

// options fills a select; entries are [value, label].
function options(id, all, entries) {
  $(id).append(el("option", {value: ""}, all), ...entries.map(([value, label]) => el("option", {value}, label)));
}

function counted(list, key) {
  const counts = new Map();
  for (const r of list) counts.set(key(r), (counts.get(key(r)) || 0) + 1);
  return [...counts].filter(([k]) => k !== "").sort(([a], [b]) => (a < b ? -1 : 1));
}

function fillFilters() {
  const label = ([k, n]) => [k, plain(k) + " (" + n.toLocaleString("en") + ")"];
  options("tool", "All tools", counted(rows, (r) => r.tool || "-").map((e) => (e[0] === "-" ? ["-", "no operation (" + e[1] + ")"] : label(e))));
  const families = counted(rows, (r) => (r.status ? Math.floor(r.status / 100) + "xx" : ""));
  options("status", "All statuses", [...families, ...counted(rows, statusText)].map(label));
  if (!data.baseline) {
    $("change-label").hidden = true;
    return;
  }
  const different = rows.filter((r) => r.kind).length;
  options("change", "Same and different", [["any", "Only different (" + different + ")"], ["none", "Only same (" + (rows.length - different) + ")"],
    ...counted(rows, (r) => r.kind).map(label)]);
}

// ---- the list: only the rows in view are elements

let drawn = "";

function draw() {
  const list = $("list");
  const from = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 6);
  const to = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 6);
  const state = from + " " + to + " " + (selected ? selected.i : "");
  if (state === drawn) return;
  drawn = state;
  const elements = [];
  for (let i = from; i < to; i++) elements.push(rowElement(shown[i], i));
  $("space").replaceChildren(...elements);
  if (selected && $("row-" + selected.i)) list.setAttribute("aria-activedescendant", "row-" + selected.i);
  else list.removeAttribute("aria-activedescendant");
}

function rowElement(r, place) {
  const second = [r.tool || "no operation", r.code, r.source && "from " + r.source].filter(Boolean).map(plain).join(" · ");
  const e = el("div", {class: "row " + r.kind, id: "row-" + r.i, role: "option", "aria-selected": String(r === selected),
    "aria-posinset": place + 1, "aria-setsize": shown.length, on: {click: () => open(r)}},
    el("span", {class: "seq"}, number(r)),
    el("span", {class: "target", title: plain(target(r))}, ...(r.target ? [el("span", {class: "method"}, plain(r.method)), " " + plain(r.target)] : [plain(target(r))])),
    el("span", {class: "pill " + statusClass(r)}, statusText(r)),
    el("span", {class: "tool"}, second),
    el("span", {class: "change"}, r.kind ? symbols[r.kind] + " " + r.kind : ""));
  e.style.top = place * rowHeight + "px";
  return e;
}

function reveal(r) {
  const list = $("list"), top = shown.indexOf(r) * rowHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
}

// select marks a row; on a wide page it shows the call too.
function select(r) {
  if (!r) return;
  if (narrow.matches && !document.body.classList.contains("open")) {
    selected = r;
    reveal(r);
    draw();
    return;
  }
  open(r);
}

function step(by) {
  const at = selected ? shown.indexOf(selected) : -1;
  if (shown.length === 0) return;
  select(shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.max(0, Math.min(shown.length - 1, at + by))]);
}

function stepChange(by) {
  let i = selected ? shown.indexOf(selected) : by > 0 ? -1 : shown.length;
  for (i += by; i >= 0 && i < shown.length; i += by) {
    if (shown[i].kind) return select(shown[i]);
  }
}

// ---- opening and links

const narrow = matchMedia("(max-width: 820px)");

function open(r, view) {
  if (!shown.includes(r)) clearFilters();
  selected = r;
  reveal(r);
  draw();
  $("detail").replaceChildren(...detail(r, view));
  $("detail").setAttribute("aria-label", callName(r));
  $("detail").scrollTop = 0;
  document.body.classList.add("open");
  if (decodeURIComponent(location.hash.slice(1)) !== r.id) history.replaceState(null, "", "#" + encodeURIComponent(r.id));
}

function close() {
  selected = null;
  document.body.classList.remove("open");
  $("detail").replaceChildren(welcome());
  history.replaceState(null, "", location.pathname + location.search);
  draw();
  $("list").focus();
}

function followLink() {
  const r = rowOf.get(decodeURIComponent(location.hash.slice(1)));
  if (r && r !== selected) open(r);
}

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || $("help").open) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.key === "Escape") {
    if (e.target === $("text") && $("text").value) {
      $("text").value = "";
      filter();
    } else if (typing) $("list").focus();
    else if (selected) close();
    else return;
    e.preventDefault();
    return;
  }
  if (typing) {
    if (e.key !== "Enter" || e.target !== $("text")) return;
    $("list").focus();
    if (shown.length > 0) open(selected && shown.includes(selected) ? selected : shown[0]);
    e.preventDefault();
    return;
  }
  const inList = e.target === $("list") || e.target === document.body;
  const page = Math.max(1, Math.floor($("list").clientHeight / rowHeight) - 1);
  const actions = {j: () => step(1), k: () => step(-1), n: () => stepChange(1), p: () => stepChange(-1),
    "/": () => $("text").select(), "?": () => $("help").showModal()};
  const listActions = {ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(page), PageUp: () => step(-page),
    Home: () => step(-rows.length), End: () => step(rows.length), Enter: () => selected && (open(selected), $("detail").focus())};
  const act = actions[e.key] || (inList && listActions[e.key]);
  if (!act) return;
  e.preventDefault();
  act();
}

// ---- the head of the page

function heading() {
  document.title = plain(data.title);
  $("title").textContent = plain(data.title);
  const side = (s) => [el("code", {}, plain(s.name)), s.describe ? " (" + plain(s.describe) + ")" : ""];
  $("sides").append(...side(data.run));
  if (!data.baseline) return;
  $("sides").append(" compared with the baseline ", ...side(data.baseline));
  const s = data.summary;
  const parts = ["changed", "missing", "inserted", "moved"].filter((k) => s[k] > 0);
  const pill = (cls, text) => el("span", {class: "pill " + cls}, text);
  $("verdict").append(s.equal ? pill("good", s.identical ? "equal, byte for byte" : "equal") : pill("bad", s.findings.toLocaleString("en") + (s.findings === 1 ? " difference" : " differences")),
    ...parts.map((k) => pill({changed: "warn", missing: "bad", inserted: "good", moved: "info"}[k], symbols[k] + " " + s[k].toLocaleString("en") + " " + k)));
  if (data.first !== undefined) {
    const r = rows[data.first];
    $("verdict").append(el("button", {type: "button", class: "link", id: "first", on: {click: () => open(r)}},
      "First difference: " + callName(r).toLowerCase() + " (" + data.changes[r.change].stage + ")"));
  }
  const ignored = data.ignored.map((p) => "; " + p.differences + " ignored at " + p.pattern).join("");
  $("verdict").append(el("p", {class: "options"}, plain("Options: " + data.options + ignored)));
}

function start() {
  heading();
  fillFilters();
  let timer = 0;
  $("text").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(filter, 80);
  });
  for (const id of ["tool", "status", "change"]) $(id).addEventListener("change", filter);
  $("clear").addEventListener("click", () => { clearFilters(); $("text").focus(); });
  $("keys").addEventListener("click", () => $("help").showModal());
  $("list").addEventListener("scroll", () => requestAnimationFrame(draw), {passive: true});
  addEventListener("resize", () => requestAnimationFrame(() => { drawn = ""; draw(); }));
  addEventListener("hashchange", followLink);
  document.addEventListener("keydown", onKey);
  $("detail").append(welcome());
  filter();
  followLink();
}
