#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "server/page/figures.h"
#include "server/page/markup.h"
#include "server/page/page_parts.h"

namespace latebind::server {
namespace {

using core::Json;

constexpr std::size_t kBatchesShown = 40;
constexpr double kBatchesHeight = 72;
constexpr std::size_t kBatchSlot = 8;

constexpr std::string_view kTakenMark = "M3.5 8.5l3 3 6-7";
constexpr std::string_view kRefusedMark = "M4.5 4.5l7 7m0-7l-7 7";

double number_or_zero(const Json& value) {
  return number_of(value).value_or(0);
}

void chip(Markup& out, std::string_view kind, std::string_view words) {
  if (!words.empty()) out.element("li", {{"class", kind}}, words);
}

std::string load_words(const Json& model) {
  const std::optional<double> seconds = number_of(member(model, "load_s"));
  if (!seconds) return {};
  // A model that is not from the cache was compiled, or needed no compilation.
  return joined({ms_words(*seconds * 1000), is_true(member(model, "from_cache")) ? "from the compile cache" : ""});
}

void answer(Markup& out, const Json& model) {
  const std::string reason = text_of(member(model, "reason"));
  const std::string device = text_of(member(model, "device"));
  const std::optional<double> hung = number_of(member(model, "hung_runs"));
  const bool is_fallback = is_true(member(model, "fallback"));
  out.open("div", {{"class", "answer"}});
  out.element("h3", {}, "Answered by");
  out.element("p", {{"class", "device"}}, device.empty() ? "no device" : device);
  out.element("p", {{"class", "hardware"}}, text_of(member(model, "device_full_name")));
  out.open("ul", {{"class", "chips"}});
  chip(out, "plain", text_of(member(model, "precision")));
  if (member(model, "fallback").is_boolean()) {
    chip(out, is_fallback ? "warn" : "good", is_fallback ? "fallback" : "no fallback");
  }
  if (is_true(member(model, "breaker_open"))) chip(out, "bad", "breaker open");
  if (hung.value_or(0) > 0) chip(out, "bad", counted(hung, "hung run"));
  out.close("ul");
  if (is_fallback) {
    out.open("p", {{"class", "notice"}, {"role", "note"}});
    out.element("strong", {}, "This is a fallback: ");
    out.text(reason.empty() ? "the steps say why." : reason);
    out.close("p");
  }
  out.open("dl", {{"class", "facts"}});
  fact(out, "Runtime", joined({text_of(member(model, "backend")), text_of(member(model, "runtime_version"))}));
  fact(out, "Runs",
       joined({counted(number_of(member(model, "requests")), "device request"),
               counted(number_of(member(model, "threads")), "thread")}));
  fact(out, "Loaded in", load_words(model));
  out.close("dl");
  out.close("div");
}

void placement_step(Markup& out, const Json& step) {
  const bool taken = is_true(member(step, "taken"));
  const std::string brief = text_of(member(step, "brief"));
  const std::string reason = text_of(member(step, "reason"));
  out.open("li", {{"class", taken ? "taken" : "refused"}});
  out.open("svg", {{"class", "mark"}, {"viewBox", "0 0 16 16"}, {"aria-hidden", "true"}});
  out.element("path", {{"d", taken ? kTakenMark : kRefusedMark}}, "");
  out.close("svg");
  out.open("div");
  out.element("b", {}, text_of(member(step, "device")));
  out.element("span", {{"class", "brief"}}, !brief.empty() ? brief : taken ? "chosen: it answers" : "not taken");
  if (!reason.empty() && reason != brief) {
    out.open("details");
    out.element("summary", {}, "Details");
    out.element("p", {}, reason);
    out.close("details");
  }
  out.close("div");
  out.close("li");
}

void placement(Markup& out, const Json& model) {
  const std::vector<const Json*> steps = objects_of(member(model, "steps"));
  out.open("div", {{"class", "placement"}});
  out.element("h3", {}, "Why: devices in the order they were tried");
  out.open("ol", {{"class", "steps"}});
  for (const Json* step : steps)
    placement_step(out, *step);
  out.close("ol");
  if (steps.empty()) out.element("p", {{"class", "muted"}}, "No device has been tried.");
  out.close("div");
}

void load(Markup& out, const Json& model) {
  const Json& queue = member(model, "queue");
  const Json& totals = member(model, "totals");
  out.open("div", {{"class", "work"}});
  out.element("h3", {}, "Work");
  out.open("dl", {{"class", "facts"}});
  if (const auto runs = number_of(member(queue, "runs"))) {
    fact(out, "Waiting", counted(runs, "run"));
    fact(out, "On the device", counted(number_of(member(queue, "running")), "run"));
    out.close("dl");
    out.close("div");
    return;
  }
  fact(out, "Waiting",
       joined(
           {counted(number_of(member(queue, "texts")), "text"), counted(number_of(member(queue, "tokens")), "token")}));
  fact(out, "On the device", counted(number_of(member(queue, "running_batches")), "batch"));
  fact(out, "So far",
       joined({counted(number_of(member(totals, "texts")), "text"),
               counted(number_of(member(totals, "tokens")), "token")}));
  const std::optional<double> batch_count = number_of(member(totals, "batches"));
  const double computed = number_or_zero(member(totals, "batch_tokens"));
  const double padding = number_or_zero(member(totals, "padded_tokens"));
  fact(out, "Batches so far",
       batch_count
           ? joined({count_words(batch_count), computed > 0 ? percent_words(padding, computed) + " padding" : ""})
           : "");
  const std::optional<double> fallback_texts = number_of(member(totals, "fallback_texts"));
  fact(out, "By a fallback", fallback_texts.value_or(0) > 0 ? counted(fallback_texts, "text") : "");
  out.close("dl");
  out.close("div");
}

// One batch: the tokens of its texts, and the total with padding.
struct Bar {
  const Json* batch;
  double tokens;
  double computed;
};

std::string batch_words(const Bar& bar) {
  const Json& batch = *bar.batch;
  return fmt::format("Batch {}: {} as {} × {}, {} padding, {}, {}", count_words(number_of(member(batch, "number"))),
                     counted(number_of(member(batch, "texts")), "text"), count_words(number_of(member(batch, "rows"))),
                     count_words(number_of(member(batch, "width"))),
                     percent_words(bar.computed - bar.tokens, bar.computed),
                     counted(number_of(member(batch, "owners")), "request"), ms_words(number_of(member(batch, "ms"))));
}

void rectangle(Markup& out, std::string_view kind, std::size_t x, double height) {
  out.element("rect",
              {{"class", kind},
               {"x", fmt::format("{}", x)},
               {"y", fmt::format("{}", kBatchesHeight - height)},
               {"width", fmt::format("{}", kBatchSlot - 2)},
               {"height", fmt::format("{}", height)}},
              "");
}

void batch_chart(Markup& out, const std::vector<Bar>& bars) {
  const std::size_t width = kBatchSlot * kBatchesShown;
  double most = 1;
  for (const Bar& bar : bars)
    most = std::max(most, bar.computed);
  out.open("svg", {{"class", "bars"},
                   {"viewBox", fmt::format("0 0 {} {}", width, kBatchesHeight)},
                   {"preserveAspectRatio", "none"},
                   {"role", "img"},
                   {"aria-label", "The latest batches: tokens of text and padding"}});
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const std::size_t x = width - kBatchSlot * (bars.size() - i) + 1;
    out.open("g");
    out.element("title", {}, batch_words(bars[i]));
    rectangle(out, "padding", x, std::floor(kBatchesHeight * bars[i].computed / most + 0.5));
    rectangle(out, "real", x, std::floor(kBatchesHeight * bars[i].tokens / most + 0.5));
    out.close("g");
  }
  out.close("svg");
}

void batch_table(Markup& out, const std::vector<Bar>& bars) {
  out.open("details", {{"class", "table"}});
  out.element("summary", {}, "As a table");
  out.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "Latest batches"}});
  out.open("table");
  out.open("thead");
  out.open("tr");
  for (const std::string_view name : {"Batch", "Texts", "Shape", "Tokens", "Padding", "Requests", "Time"}) {
    out.element("th", {{"scope", "col"}}, name);
  }
  out.close("tr");
  out.close("thead");
  out.open("tbody");
  for (std::size_t i = bars.size(); i-- > 0;) {
    const Bar& bar = bars[i];
    const Json& batch = *bar.batch;
    out.open("tr");
    out.element("td", {}, count_words(number_of(member(batch, "number"))));
    out.element("td", {}, count_words(number_of(member(batch, "texts"))));
    out.element("td", {},
                count_words(number_of(member(batch, "rows"))) + " × " + count_words(number_of(member(batch, "width"))));
    out.element("td", {}, count_words(bar.tokens));
    out.element("td", {}, percent_words(bar.computed - bar.tokens, bar.computed));
    out.element("td", {}, count_words(number_of(member(batch, "owners"))));
    out.element("td", {}, ms_words(number_of(member(batch, "ms"))));
    out.close("tr");
  }
  out.close("tbody");
  out.close("table");
  out.close("div");
  out.close("details");
}

void batches(Markup& out, const Json& model) {
  std::vector<const Json*> all = objects_of(member(model, "batches"));
  if (all.size() > kBatchesShown) all.erase(all.begin(), all.end() - kBatchesShown);
  std::vector<Bar> bars;
  double tokens = 0;
  double computed = 0;
  for (const Json* batch : all) {
    const double real = number_or_zero(member(*batch, "tokens"));
    bars.push_back({batch, real, real + number_or_zero(member(*batch, "padded_tokens"))});
    tokens += real;
    computed += bars.back().computed;
  }
  out.open("div", {{"class", "batches"}});
  out.element("h3", {}, "Latest batches");
  batch_chart(out, bars);
  out.open("p", {{"class", "legend"}});
  out.element("span", {{"class", "key real"}}, bars.empty() ? "Text" : "Text " + percent_words(tokens, computed));
  out.element("span", {{"class", "key padding"}},
              bars.empty() ? "Padding" : "Padding " + percent_words(computed - tokens, computed));
  out.element("span", {}, bars.empty() ? "None yet" : counted(static_cast<double>(bars.size()), "batch"));
  out.close("p");
  batch_table(out, bars);
  out.close("div");
}

void card(Markup& out, const Json& model) {
  const std::string kind = text_of(member(model, "kind"));
  const std::optional<double> dimension = number_of(member(model, "dimension"));
  const std::optional<double> most = number_of(member(model, "max_tokens"));
  out.open("article", {{"class", "card model"}});
  out.open("div", {{"class", "head"}});
  out.element("h2", {}, text_of(member(model, "name")));
  out.element("p", {{"class", "muted"}},
              joined({kind.empty() ? "" : kind + " model", counted(dimension, "dimension"),
                      most ? "up to " + counted(most, "token") : ""}));
  out.close("div");
  out.open("div", {{"class", "columns"}});
  answer(out, model);
  placement(out, model);
  out.close("div");
  if (member(model, "queue").is_object() || member(model, "batches").is_array()) {
    out.open("div", {{"class", "columns"}});
    load(out, model);
    if (member(model, "batches").is_array()) batches(out, model);  // runs with tensors have no batches
    out.close("div");
  }
  out.close("article");
}

}  // namespace

std::string models_markup(const Json& status) {
  const std::vector<const Json*> models = objects_of(member(status, "models"));
  Markup out;
  for (const Json* model : models)
    card(out, *model);
  if (models.empty()) {
    const bool is_loading = member(status, "ready").is_boolean() && !is_true(member(status, "ready"));
    out.open("article", {{"class", "card empty"}});
    out.element("p", {}, is_loading ? "Models are loading." : "No model is loaded yet.");
    out.close("article");
  }
  return out.take();
}

}  // namespace latebind::server
