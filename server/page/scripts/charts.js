// Live charts of the last two minutes. Missing data appears as a gap.
const shownMs = 120_000;
const chartWidth = 240;
const chartHeight = 64;

const charts = {
  texts_per_s: { series: [["texts_per_s", "p50 filled"]], words: rateWords },
  tokens_per_s: { series: [["tokens_per_s", "p50 filled"]], words: rateWords },
  latency: { series: [["p99_ms", "p99"], ["p95_ms", "p95"], ["p50_ms", "p50"]], words: msWords },
  queue: { series: [["queue_tokens", "p50 filled"]], words: countWords },
};

// Points with a time and figures; figures are null when the server did not answer.
let samples = [];

function figuresOf(status) {
  const requests = member(status, "requests");
  const waiting = objectsOf(member(status, "models"))
    .map((model) => member(member(model, "queue"), "tokens")).filter(isNumber);
  const figures = {
    queue_tokens: waiting.length > 0 ? waiting.reduce((sum, tokens) => sum + tokens, 0) : undefined,
    queue_limit: member(member(status, "limits"), "queue_tokens"),
  };
  for (const name of ["texts_per_s", "tokens_per_s", "p50_ms", "p95_ms", "p99_ms"]) {
    figures[name] = member(requests, name);
  }
  return figures;
}

function addSample(figures) {
  const now = performance.now();
  samples.push({ now, figures });
  samples = samples.filter((sample) => now - sample.now <= shownMs);
}

// Rounds up, so that the scale changes rarely.
function roundedUp(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= number * 0.999) ?? number;
}

// Splits the points at gaps.
function runsOf(name, now, most) {
  const runs = [[]];
  let last = -Infinity;
  for (const sample of samples) {
    const value = sample.figures?.[name];
    if (!isNumber(value) || sample.now - last > 8000) {
      if (runs.at(-1).length > 0) runs.push([]);
      if (!isNumber(value)) continue;
    }
    last = sample.now;
    const x = chartWidth * (1 - (now - sample.now) / shownMs);
    runs.at(-1).push([x, chartHeight * (1 - value / most)]);
  }
  return runs.filter((run) => run.length > 0);
}

function pathsOf([name, kind], now, most) {
  return runsOf(name, now, most).flatMap((run) => {
    const line = run.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    const [from, to] = [run[0][0].toFixed(1), run.at(-1)[0].toFixed(1)];
    return [
      kind.endsWith("filled") ? h("path", { class: "area", d: `M${from} ${chartHeight}L${line}L${to} ${chartHeight}Z` }) : "",
      // A line from a point to itself draws a single point.
      h("path", { class: `series ${kind}`, d: `M${line}L${run.at(-1).map((at) => at.toFixed(1)).join(" ")}` }),
    ];
  });
}

function drawCharts() {
  const now = performance.now();
  for (const place of document.querySelectorAll("[data-chart]")) {
    const { series, words } = charts[place.dataset.chart];
    const values = samples.flatMap(({ figures }) => series.map(([name]) => figures?.[name])).filter(isNumber);
    const most = roundedUp(Math.max(1, ...values));
    const mostWords = words(most).replace(".0", "");
    const lines = [0, 0.5, 1].map((part) =>
      h("line", { class: "grid", x1: 0, x2: chartWidth, y1: chartHeight * part, y2: chartHeight * part }));
    become(place, h("div", {},
      h("span", { class: "most" }, mostWords),
      h("svg", { viewBox: `0 0 ${chartWidth} ${chartHeight}`, preserveAspectRatio: "none", role: "img",
        "aria-label": `The last two minutes, up to ${mostWords}` },
      lines, series.flatMap((one) => pathsOf(one, now, most))),
      h("span", { class: "times" }, h("span", {}, "2 min ago"), h("span", {}, "now"))));
  }
}

function showFigures(figures) {
  const words = { texts_per_s: rateWords, tokens_per_s: rateWords, queue_tokens: countWords, queue_limit: countWords };
  for (const place of document.querySelectorAll("[data-figure]")) {
    const name = place.dataset.figure;
    place.textContent = (words[name] ?? msWords)(figures[name]);
  }
}
