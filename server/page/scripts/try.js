// Compares two texts and searches some lines, through this server's POST /v1/embeddings.
const linesMax = 256;

function chosenModel() {
  return document.querySelector("#try-model").value;
}

// Offers the embedding models. Visible only if there is one.
function offerModels(status) {
  const names = objectsOf(member(status, "models"))
    .filter((model) => (textOf(member(model, "kind")) || "embedding") === "embedding")
    .map((model) => textOf(member(model, "name")));
  become(document.querySelector("#try-model"), h("select", {}, names.map((name) => h("option", { value: name }, name))));
  document.querySelector("#try-models").hidden = names.length < 2;
  document.querySelector("#try").hidden = names.length === 0;
}

function cosine(a, b) {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa > 0 && bb > 0 ? dot / Math.sqrt(aa * bb) : 0;
}

// Returns the vectors of `texts` and a summary of the cost. Throws an Error with the reason.
async function embed(texts) {
  const begin = performance.now();
  const response = await ask("v1/embeddings", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: chosenModel(), input: texts }),
  }, 60_000);
  const answer = await response.json().catch(() => undefined);
  if (!response.ok) {
    const error = member(answer, "error");
    throw new Error(textOf(member(error, "message")) || textOf(error) || `the server answered ${response.status}`);
  }
  const data = objectsOf(member(answer, "data"));
  const vectors = data.map((one) => member(one, "embedding"));
  if (vectors.length !== texts.length || !vectors.every(Array.isArray)) throw new Error("the answer is invalid");
  const device = response.headers.get("x-latebind-device") ?? "";
  return {
    vectors,
    cost: joined([
      counted(texts.length, "text"), counted(member(member(answer, "usage"), "prompt_tokens"), "token"),
      msWords(performance.now() - begin), device]),
  };
}

// A bar as SVG, because the page's policy forbids a style attribute for its length.
const meter = (score) =>
  h("svg", { class: "meter", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    h("rect", { class: "padding", width: 100, height: 6 }),
    h("rect", { class: "real", width: Math.max(0, Math.min(100, score * 100)).toFixed(1), height: 6 }));

function similarityWords(score) {
  if (score > 0.8) return "nearly the same";
  if (score > 0.5) return "closely related";
  return score > 0.25 ? "somewhat related" : "hardly related";
}

async function compare(form) {
  const texts = [form.elements.first.value, form.elements.second.value];
  const { vectors, cost } = await embed(texts);
  const score = cosine(vectors[0], vectors[1]);
  return [cost, h("div", {},
    h("p", { class: "score" }, h("b", {}, score.toFixed(3)), ` cosine similarity: ${similarityWords(score)}`), meter(score))];
}

async function rank(form) {
  const lines = form.elements.lines.value.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (lines.length === 0) throw new Error("there is no line to search");
  if (lines.length > linesMax) throw new Error(`more than ${linesMax} lines: use the HTTP interface`);
  const { vectors, cost } = await embed([form.elements.query.value, ...lines]);
  const found = lines.map((line, i) => ({ line, score: cosine(vectors[0], vectors[i + 1]) }))
    .sort((a, b) => b.score - a.score).slice(0, 10);
  return [cost, h("ol", {}, found.map(({ line, score }) =>
    h("li", {}, h("span", { class: "hit" }, h("span", {}, line), h("b", {}, score.toFixed(3))), meter(score))))];
}

function onSubmit(form, work) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [button, cost, outcome] = ["button", ".cost", ".outcome"].map((name) => form.querySelector(name));
    if (button.getAttribute("aria-disabled") === "true") return;
    // Not `disabled`, which would lose the focus.
    button.setAttribute("aria-disabled", "true");
    try {
      const [words, content] = await work(form);
      cost.textContent = words;
      cost.classList.remove("wrong");
      become(outcome, content);
    } catch (error) {
      cost.textContent = `Not done: ${error.message}`;
      cost.classList.add("wrong");
      outcome.replaceChildren();
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
}

onSubmit(document.querySelector("#similarity"), compare);
onSubmit(document.querySelector("#search"), rank);
