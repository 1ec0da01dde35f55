"use strict";

// JSON is shown as it stands: number text, key order and repeated keys are kept,
// which JSON.parse would not do.

// parseJSON makes nodes: {t: "o", m: [[key, node]]}, {t: "a", m: [node]},
// {t: "s", v: string}, {t: "n", v: text}, {t: "l", v: text}.
function parseJSON(text) {
  let i = 0;
  function string() {
    const from = i;
    for (i++; ; i++) {
      i = text.indexOf('"', i);
      let slashes = 0;
      while (text[i - 1 - slashes] === "\\") slashes++;
      if (slashes % 2 === 0) break;
    }
    i++;
    const inner = text.slice(from + 1, i - 1);
    return inner.includes("\\") ? JSON.parse(text.slice(from, i)) : inner;
  }
  function value() {
    const c = text[i];
    if (c === '"') return {t: "s", v: string()};
    if (c === "{" || c === "[") return list(c === "{");
    const from = i;
    while (i < text.length && !",]}".includes(text[i])) i++;
    return {t: c === "-" || (c >= "0" && c <= "9") ? "n" : "l", v: text.slice(from, i)};
  }
  function list(object) {
    const node = {t: object ? "o" : "a", m: []};
    for (i++; text[i] !== "}" && text[i] !== "]"; ) {
      if (text[i] === ",") i++;
      if (!object) {
        node.m.push(value());
        continue;
      }
      const key = string();
      i++; // the colon
      node.m.push([key, value()]);
    }
    i++;
    return node;
  }
  return value();
}

function member(node, key) {
  if (!node || node.t !== "o") return null;
  const found = node.m.find(([k]) => k === key);
  return found ? found[1] : null;
}

// el makes an element; children are nodes or texts, never markup.
function el(name, props, ...children) {
  const e = document.createElement(name);
  for (const [key, val] of Object.entries(props || {})) {
    if (key === "class") e.className = val;
    else if (key === "on") for (const [event, f] of Object.entries(val)) e.addEventListener(event, f);
    else if (val === true) e.setAttribute(key, "");
    else if (val !== false && val !== null && val !== undefined) e.setAttribute(key, val);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
}

// What a text could hide or turn around: control and formatting characters, lone
// surrogates, line separators.
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const ordinary = /[\n\t\r]/;

function escapeOne(c) {
  const short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}[c];
  if (short) return short;
  const hex = c.codePointAt(0).toString(16);
  return hex.length > 4 ? "\\u{" + hex + "}" : "\\u" + hex.padStart(4, "0");
}

// plain makes a text safe to read.
function plain(s) {
  return String(s).replace(unseen, escapeOne);
}

const quoted = (s) => '"' + s.replace(/["\\]/g, "\\$&") + '"';

// textNodes are the nodes of a string's inside, with what is unseen marked.
function textNodes(s) {
  const out = [];
  let from = 0;
  for (const hit of s.matchAll(unseen)) {
    if (hit.index > from) out.push(s.slice(from, hit.index));
    out.push(el("span", {class: ordinary.test(hit[0]) ? "e" : "x"}, escapeOne(hit[0])));
    from = hit.index + hit[0].length;
  }
  out.push(s.slice(from));
  return out;
}

const maxString = 3000; // characters shown of a string at first
const maxLines = 3000; // lines shown of a value at once

const scalarClass = {s: "s", n: "n", l: "l"};

// scalar shows a value without children; [from, to) of its text is marked.
function scalar(node, range) {
  const text = node.t === "s" ? quoted(node.v) : node.v;
  const span = el("span", {class: scalarClass[node.t]});
  const [from, to] = range || [0, 0];
  let cut = Math.max(maxString, to + 200);
  if (isLow(text, cut)) cut++;
  span.append(...textNodes(text.slice(0, from)));
  if (to > from) span.append(el("mark", {}, ...textNodes(text.slice(from, to))));
  span.append(...textNodes(text.slice(Math.max(from, to), cut)));
  if (text.length > cut) {
    const rest = el("button", {type: "button", class: "link"}, "… " + (text.length - cut).toLocaleString("en") + " more characters");
    rest.addEventListener("click", () => rest.replaceWith(...textNodes(text.slice(cut))));
    span.append(rest);
  }
  return span;
}

// isLow tells whether a text has the second half of a character at i.
const isLow = (s, i) => s.charCodeAt(i) >> 10 === 0x37;

// unlike finds where two scalars differ: the range of each.
function unlike(a, b) {
  if (a.t !== b.t || (a.t !== "s" && a.t !== "n")) return [null, null];
  const x = a.t === "s" ? quoted(a.v) : a.v;
  const y = b.t === "s" ? quoted(b.v) : b.v;
  let from = 0;
  while (from < x.length && from < y.length && x[from] === y[from]) from++;
  let end = 0;
  while (end < x.length - from && end < y.length - from && x[x.length - 1 - end] === y[y.length - 1 - end]) end++;
  if (a.t === "s" ? from + end < 4 : from + end < 1) return [null, null]; // little in common but quotes
  if (isLow(x, from) || isLow(y, from)) from--;
  if (end > 0 && isLow(x, x.length - end)) end--;
  return [[from, x.length - end], [from, y.length - end]];
}

const pointer = (path, key) => path + "/" + (typeof key === "number" ? key : key.replace(/~/g, "~0").replace(/\//g, "~1"));

// A Printer writes values as lines, one after the other as they are asked for: of
// a long value most are never shown. edits are the differences to the baseline by
// path, for a tree of the baseline; without edits the tree is shown as it is.
class Printer {
  constructor(edits) {
    this.edits = edits;
  }

  // value gives the lines of a node at a path. lead makes what stands before it on
  // its first line, tail is a comma or nothing, cls says on which side it stands.
  // A line's parts are texts, or functions that make nodes.
  *value(node, path, depth, lead, tail, cls, range) {
    const finding = !cls && this.edits ? this.edits.at.get(path) : null;
    if (finding && finding.kind === "removed") {
      yield* this.value(node, path, depth, lead, tail, "del");
      return;
    }
    if (finding && (finding.kind === "changed" || finding.kind === "respelled") && finding.neu !== undefined) {
      const neu = parseJSON(finding.neu);
      const [x, y] = unlike(node, neu);
      yield* this.value(node, path, depth, lead, tail, "del", x);
      yield* this.value(neu, path, depth, lead, tail, "add", y);
      return;
    }
    if (finding && finding.kind === "reordered") yield {depth, cls: "note", path, parts: ["in another order in this run"]};
    if (node.t === "o" || node.t === "a") yield* this.list(node, path, depth, lead, tail, cls);
    else yield {depth, cls, path, parts: [lead, () => [scalar(node, range)], tail]};
  }

  *list(node, path, depth, lead, tail, cls) {
    const [open, close] = node.t === "o" ? ["{", "}"] : ["[", "]"];
    const added = (!cls && this.edits && this.edits.added.get(path)) || [];
    if (node.m.length + added.length === 0) {
      yield {depth, cls, path, parts: [lead, open + close + tail]};
      return;
    }
    yield {depth, cls, path, parts: [lead, open]};
    for (let i = 0; i < node.m.length; i++) {
      const [key, child] = node.t === "o" ? node.m[i] : [i, node.m[i]];
      const comma = i < node.m.length - 1 ? "," : "";
      yield* this.value(child, pointer(path, key), depth + 1, this.lead(node.t, key), comma, cls);
    }
    for (const f of added) {
      yield* this.value(parseJSON(f.neu), f.path, depth + 1, this.lead(node.t, f.key), "", "add");
    }
    yield {depth, cls, path, parts: [close + tail]};
  }

  lead(type, key) {
    if (type === "a") return () => [];
    return () => [el("span", {class: "k"}, ...textNodes(quoted(key))), ": "];
  }

  // element shows the first lines, and a button for more. Its reveal shows the
  // line of a difference at a path, and leaves lines before it out.
  element(lines) {
    const pre = el("pre", {class: "json"});
    const more = el("button", {type: "button", class: "more"}, "Show more lines");
    let next = lines.next();
    const append = (l) => {
      const nodes = l.parts.flatMap((p) => (typeof p === "function" ? p() : [p]));
      const line = el("span", {class: "ln" + (l.cls ? " " + l.cls : "")}, "  ".repeat(l.depth), ...nodes);
      if (l.cls) line.dataset.path = l.path;
      pre.append(line);
    };
    const put = () => {
      for (let n = 0; n < maxLines && !next.done; n++, next = lines.next()) append(next.value);
      if (next.done) more.remove();
    };
    const box = el("div", {class: "value"}, pre, more);
    box.reveal = (path) => {
      const before = [];
      let left = 0;
      for (; !next.done && !(next.value.cls && next.value.path === path); next = lines.next()) {
        before.push(next.value);
        if (before.length > 20) left += before.splice(0, 1).length;
      }
      if (left > 0) append({depth: 0, cls: "note", path: "", parts: ["… " + left.toLocaleString("en") + " lines left out"]});
      before.forEach(append);
      put();
    };
    more.addEventListener("click", put);
    put();
    return box;
  }
}
