// Draws the parts of the page that change with the status, with the same elements as server/page/card.cpp and
// facts.cpp. Existing elements are updated in place, so that open details stay open and the focus is kept.
const svgTags = new Set(["svg", "path", "rect", "g", "title", "line"]);

function h(tag, attributes = {}, ...children) {
  const element = svgTags.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== ""));
  return element;
}

// Gives `old` the children of `fresh`.
function become(old, fresh) {
  const wanted = [...fresh.childNodes];
  wanted.forEach((node, i) => {
    const there = old.childNodes[i];
    if (there === undefined) {
      old.append(node);
    } else if (there.nodeName !== node.nodeName) {
      there.replaceWith(node);
    } else if (node.nodeType === Node.TEXT_NODE) {
      if (there.data !== node.data) there.data = node.data;
    } else {
      for (const { name } of [...there.attributes]) {
        if (name !== "open" && !node.hasAttribute(name)) there.removeAttribute(name);
      }
      for (const { name, value } of node.attributes) {
        if (there.getAttribute(name) !== value) there.setAttribute(name, value);
      }
      become(there, node);
    }
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
}

const fact = (name, content) => (content === "" ? null : h("div", {}, h("dt", {}, name), h("dd", {}, content)));
const chip = (kind, words) => (words === "" ? null : h("li", { class: kind }, words));

function loadWords(model) {
  const seconds = member(model, "load_s");
  if (!isNumber(seconds)) return "";
  return joined([msWords(seconds * 1000), member(model, "from_cache") === true ? "from the compile cache" : ""]);
}

function answer(model) {
  const fallback = member(model, "fallback");
  const hung = member(model, "hung_runs");
  return h("div", { class: "answer" },
    h("h3", {}, "Answered by"),
    h("p", { class: "device" }, textOf(member(model, "device")) || "no device"),
    h("p", { class: "hardware" }, textOf(member(model, "device_full_name"))),
    h("ul", { class: "chips" },
      chip("plain", textOf(member(model, "precision"))),
      typeof fallback !== "boolean" ? null : chip(fallback ? "warn" : "good", fallback ? "fallback" : "no fallback"),
      member(model, "breaker_open") === true ? chip("bad", "breaker open") : null,
      numberOrZero(hung) > 0 ? chip("bad", counted(hung, "hung run")) : null),
    fallback !== true ? null : h("p", { class: "notice", role: "note" },
      h("strong", {}, "This is a fallback: "), textOf(member(model, "reason")) || "the steps say why."),
    h("dl", { class: "facts" },
      fact("Runtime", joined([textOf(member(model, "backend")), textOf(member(model, "runtime_version"))])),
      fact("Runs", joined([
        counted(member(model, "requests"), "device request"), counted(member(model, "threads"), "thread")])),
      fact("Loaded in", loadWords(model))));
}

function placementStep(step) {
  const taken = member(step, "taken") === true;
  const brief = textOf(member(step, "brief"));
  const reason = textOf(member(step, "reason"));
  return h("li", { class: taken ? "taken" : "refused" },
    h("svg", { class: "mark", viewBox: "0 0 16 16", "aria-hidden": "true" },
      h("path", { d: taken ? "M3.5 8.5l3 3 6-7" : "M4.5 4.5l7 7m0-7l-7 7" })),
    h("div", {},
      h("b", {}, textOf(member(step, "device"))),
      h("span", { class: "brief" }, brief || (taken ? "chosen: it answers" : "not taken")),
      reason === "" || reason === brief ? null
        : h("details", {}, h("summary", {}, "Details"), h("p", {}, reason))));
}

function placement(model) {
  const steps = objectsOf(member(model, "steps"));
  return h("div", { class: "placement" },
    h("h3", {}, "Why: devices in the order they were tried"),
    h("ol", { class: "steps" }, steps.map(placementStep)),
    steps.length > 0 ? null : h("p", { class: "muted" }, "No device has been tried."));
}

function work(model) {
  const queue = member(model, "queue");
  const totals = member(model, "totals");
  const computed = numberOrZero(member(totals, "batch_tokens"));
  const padding = numberOrZero(member(totals, "padded_tokens"));
  const fallbackTexts = member(totals, "fallback_texts");
  const batches = member(totals, "batches");
  const runs = member(queue, "runs");
  if (isNumber(runs)) {
    return h("div", { class: "work" },
      h("h3", {}, "Work"),
      h("dl", { class: "facts" },
        fact("Waiting", counted(runs, "run")),
        fact("On the device", counted(member(queue, "running"), "run"))));
  }
  return h("div", { class: "work" },
    h("h3", {}, "Work"),
    h("dl", { class: "facts" },
      fact("Waiting", joined([counted(member(queue, "texts"), "text"), counted(member(queue, "tokens"), "token")])),
      fact("On the device", counted(member(queue, "running_batches"), "batch")),
      fact("So far", joined([counted(member(totals, "texts"), "text"), counted(member(totals, "tokens"), "token")])),
      fact("Batches so far", !isNumber(batches) ? "" : joined([
        countWords(batches),
        computed > 0 ? `${percentWords(padding, computed)} padding` : ""])),
      fact("By a fallback", numberOrZero(fallbackTexts) > 0 ? counted(fallbackTexts, "text") : "")));
}

const batchSlot = 8;
const batchesShown = 40;
const batchesHeight = 72;

function batchWords({ batch, tokens, computed }) {
  const of = (name) => member(batch, name);
  return `Batch ${countWords(of("number"))}: ${counted(of("texts"), "text")} as ${countWords(of("rows"))} × ` +
    `${countWords(of("width"))}, ${percentWords(computed - tokens, computed)} padding, ` +
    `${counted(of("owners"), "request")}, ${msWords(of("ms"))}`;
}

function batchBar(bar, i, bars, most) {
  const rectangle = (kind, tokens) => {
    const height = Math.floor((batchesHeight * tokens) / most + 0.5);
    return h("rect", { class: kind, x: batchSlot * (batchesShown - bars.length + i) + 1, y: batchesHeight - height,
      width: batchSlot - 2, height });
  };
  return h("g", {}, h("title", {}, batchWords(bar)), rectangle("padding", bar.computed), rectangle("real", bar.tokens));
}

function batchRow({ batch, tokens, computed }) {
  const of = (name) => member(batch, name);
  return h("tr", {}, [
    countWords(of("number")), countWords(of("texts")), `${countWords(of("rows"))} × ${countWords(of("width"))}`,
    countWords(tokens), percentWords(computed - tokens, computed), countWords(of("owners")), msWords(of("ms")),
  ].map((words) => h("td", {}, words)));
}

function batches(model) {
  const bars = objectsOf(member(model, "batches")).slice(-batchesShown).map((batch) => {
    const tokens = numberOrZero(member(batch, "tokens"));
    return { batch, tokens, computed: tokens + numberOrZero(member(batch, "padded_tokens")) };
  });
  const sum = (name) => bars.reduce((total, bar) => total + bar[name], 0);
  const [tokens, computed] = [sum("tokens"), sum("computed")];
  const most = Math.max(1, ...bars.map((bar) => bar.computed));
  const none = bars.length === 0;
  return h("div", { class: "batches" },
    h("h3", {}, "Latest batches"),
    h("svg", { class: "bars", viewBox: `0 0 ${batchSlot * batchesShown} ${batchesHeight}`, preserveAspectRatio: "none",
      role: "img", "aria-label": "The latest batches: tokens of text and padding" },
    bars.map((bar, i) => batchBar(bar, i, bars, most))),
    h("p", { class: "legend" },
      h("span", { class: "key real" }, none ? "Text" : `Text ${percentWords(tokens, computed)}`),
      h("span", { class: "key padding" }, none ? "Padding" : `Padding ${percentWords(computed - tokens, computed)}`),
      h("span", {}, none ? "None yet" : counted(bars.length, "batch"))),
    h("details", { class: "table" },
      h("summary", {}, "As a table"),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Latest batches" },
        h("table", {},
          h("thead", {}, h("tr", {}, ["Batch", "Texts", "Shape", "Tokens", "Padding", "Requests", "Time"].map(
            (name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, bars.map(batchRow).reverse())))));
}

function card(model) {
  const kind = textOf(member(model, "kind"));
  const most = member(model, "max_tokens");
  const hasQueue = isObject(member(model, "queue")) || Array.isArray(member(model, "batches"));
  return h("article", { class: "card model" },
    h("div", { class: "head" },
      h("h2", {}, textOf(member(model, "name"))),
      h("p", { class: "muted" }, joined([
        kind === "" ? "" : `${kind} model`, counted(member(model, "dimension"), "dimension"),
        isNumber(most) ? `up to ${counted(most, "token")}` : ""]))),
    h("div", { class: "columns" }, answer(model), placement(model)),
    hasQueue ? h("div", { class: "columns" }, work(model),
      Array.isArray(member(model, "batches")) ? batches(model) : null) : null);
}

function modelsMarkup(status) {
  const models = objectsOf(member(status, "models"));
  if (models.length > 0) return h("div", {}, models.map(card));
  const words = member(status, "ready") === false ? "Models are loading." : "No model is loaded yet.";
  return h("div", {}, h("article", { class: "card empty" }, h("p", {}, words)));
}

function cacheWords(cache) {
  if (!isObject(cache)) return "";
  if (member(cache, "enabled") !== true) return "off";
  const most = member(cache, "max_bytes");
  return joined([numberOrZero(most) > 0 ? `up to ${bytesWords(most)}` : "", textOf(member(cache, "folder"))]);
}

function limitWords(limits) {
  const [texts, body, timeout] = ["texts", "body_bytes", "request_timeout_ms"].map((name) => member(limits, name));
  return joined([
    isNumber(texts) ? `${counted(texts, "text")} a request` : "",
    isNumber(body) ? `${bytesWords(body)} a body` : "",
    isNumber(timeout) ? `${msWords(timeout)} of time` : ""]);
}

function serverMarkup(status) {
  const requests = member(status, "requests");
  const [connections, limits] = [member(status, "connections"), member(status, "limits")];
  const most = member(limits, "connections");
  const resident = member(member(status, "memory"), "resident_bytes");
  const listen = member(status, "listen");
  return h("div", {}, h("dl", { class: "facts" },
    fact("Version", textOf(member(status, "version"))),
    fact("Started", timeWords(textOf(member(status, "started_at")))),
    fact("Listens on", Array.isArray(listen) ? joined(listen.map(textOf)) : ""),
    !isObject(requests) ? null : fact("Requests", joined([
      `${countWords(member(requests, "total"))} in all`, `${countWords(member(requests, "in_flight"))} in flight`,
      `${countWords(member(requests, "refused"))} refused`, `${countWords(member(requests, "failed"))} failed`])),
    fact("Connections", !isNumber(connections) ? ""
      : countWords(connections) + (isNumber(most) ? ` of ${countWords(most)}` : "")),
    fact("Memory", isNumber(resident) ? bytesWords(resident) : ""),
    fact("Compile cache", cacheWords(member(status, "cache"))),
    fact("Limits", limitWords(limits))));
}
