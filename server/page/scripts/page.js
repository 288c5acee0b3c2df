// Requests the status every second and shows it. Pauses while the page is hidden.
const everyMs = 1000;
const keyName = "latebind-key";
let key = "";
try {
  key = sessionStorage.getItem(keyName) ?? "";
} catch {
  // Without storage, the key lasts as long as the page.
}

const stateLine = document.querySelector("#state");
const keyForm = document.querySelector("#key");
let startedAt;
let heardAt;
let isLost = false;
let asking = 0;  // counts, so that only the latest question is followed by another
let timer;

// fetch() from this server, with the key and a timeout. Asks for a key if the server requires one.
async function ask(path, options, timeoutMs) {
  const headers = { ...options.headers, ...(key === "" ? {} : { Authorization: `Bearer ${key}` }) };
  let response;
  try {
    response = await fetch(new URL(path, document.baseURI), {
      ...options, headers, cache: "no-store", redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
  } catch {
    throw new Error("the server cannot be reached");
  }
  if (response.status === 401) {
    wantKey();
    throw new Error("a key is required");
  }
  return response;
}

function wantKey() {
  document.querySelector("#key-words").textContent = key === ""
    ? "It is kept until this tab is closed, and sent only to this server."
    : "The server did not accept this one.";
  keyForm.hidden = false;
  // Takes the focus only if nothing else on the page has it.
  if (document.activeElement === document.body) document.querySelector("#key-value").focus();
}

function announce(words) {
  document.querySelector("#announcement").textContent = words;
}

function showState(kind, words) {
  if (stateLine.className !== `state ${kind}`) stateLine.className = `state ${kind}`;
  document.querySelector("#state-words").textContent = words;
  document.body.classList.toggle("lost", kind === "lost");
  document.title = kind === "lost" ? "Connection lost – Latebind" : "Latebind";
}

function showStatus(status) {
  // The server was restarted or replaced, so the earlier points do not belong to it.
  if (startedAt !== undefined && startedAt !== status.started_at) samples = [];
  startedAt = status.started_at;
  heardAt = performance.now();
  const figures = figuresOf(status);
  addSample(figures);
  showFigures(figures);
  drawCharts();
  become(document.querySelector("#models"), modelsMarkup(status));
  become(document.querySelector("#server"), serverMarkup(status));
  document.querySelector("#version").textContent = textOf(status.version);
  offerModels(status);
  const isReady = status.ready !== false;
  const uptime = isNumber(status.uptime_s) ? `up ${durationWords(status.uptime_s)}` : "";
  showState(isReady ? "live" : "loading", joined([isReady ? "Live" : "Loading", uptime]));
  if (isLost) announce("Connected again.");
  isLost = false;
  keyForm.hidden = true;
  document.querySelector("#content").hidden = false;
}

function showLoss(reason) {
  addSample(null);
  drawCharts();
  if (!keyForm.hidden) {
    showState("locked", "Key wanted");
    announce("This server requires a key.");
    return;
  }
  const since = heardAt === undefined ? "" : `${durationWords((performance.now() - heardAt) / 1000)} ago`;
  showState("lost", joined(["Connection lost", since]));
  if (!isLost) announce(`Connection lost: ${reason}.`);
  isLost = true;
}

async function poll() {
  const turn = ++asking;
  clearTimeout(timer);
  try {
    const response = await ask("latebind/status", {}, 5000);
    // A server that is not ready answers 503, with the status as well.
    const status = await response.json().catch(() => undefined);
    if (!isObject(status) || !(response.ok || "version" in status)) throw new Error(`it answered ${response.status}`);
    if (turn === asking) showStatus(status);
  } catch (error) {
    if (turn === asking) showLoss(error.message);
  }
  // While the user types a key, no status is requested.
  if (turn === asking && !document.hidden && keyForm.hidden) timer = setTimeout(poll, everyMs);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    poll();
    return;
  }
  clearTimeout(timer);
  asking++;
  if (!isLost) showState("paused", "Paused");
});

keyForm.addEventListener("submit", (event) => {
  event.preventDefault();
  const input = document.querySelector("#key-value");
  key = input.value.trim();
  input.value = "";
  try {
    sessionStorage.setItem(keyName, key);
  } catch {
    // As above.
  }
  keyForm.hidden = true;
  poll();
});

// Tries the stored key.
if (key !== "") keyForm.hidden = true;
drawCharts();
poll();
