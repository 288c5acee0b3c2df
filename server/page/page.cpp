#include "server/page/page.h"

#include <optional>
#include <string>

#include "server/page/document.h"
#include "server/page/figures.h"
#include "server/page/markup.h"
#include "server/page/page_parts.h"

namespace latebind::server {
namespace {

using core::Json;

// The waiting tokens of all models, or std::nullopt if no model reports them.
std::optional<double> waiting_tokens(const Json& status) {
  std::optional<double> sum;
  for (const Json* model : objects_of(member(status, "models"))) {
    if (const auto tokens = number_of(member(member(*model, "queue"), "tokens"))) sum = sum.value_or(0) + *tokens;
  }
  return sum;
}

// The number of models that the page can try: those that embed.
std::size_t embedding_models(const Json& status) {
  std::size_t count = 0;
  for (const Json* model : objects_of(member(status, "models"))) {
    const std::string kind = text_of(member(*model, "kind"));
    if (kind.empty() || kind == "embedding") ++count;
  }
  return count;
}

// Without the key, the page of a server that requires one shows nothing.
bool is_locked(const Json& status) {
  return is_true(member(status, "wants_key"));
}

std::string state_words(const Json& status) {
  if (is_locked(status)) return "Key wanted";
  const Json& ready = member(status, "ready");
  if (!ready.is_boolean()) return "Not known yet";
  if (!is_true(ready)) return "Loading";
  return joined({"Ready", number_of(member(status, "uptime_s"))
                              ? "up " + duration_words(number_of(member(status, "uptime_s")))
                              : ""});
}

std::string state_kind(const Json& status) {
  if (is_locked(status)) return "locked";
  const Json& ready = member(status, "ready");
  return !ready.is_boolean() ? "unknown" : is_true(ready) ? "ready" : "loading";
}

// Returns the text that replaces {{name}} in page.html.
std::string value_of(std::string_view name, const Json& status) {
  const Json& requests = member(status, "requests");
  const auto request_figure = [&requests](std::string_view figure) { return number_of(member(requests, figure)); };
  if (name == "style") return std::string(document::kStyle);
  if (name == "script") return std::string(document::kScript);
  if (name == "models") return models_markup(status);
  if (name == "server") return server_markup(status);
  if (name == "version") return core::escaped_for_markup(text_of(member(status, "version")));
  if (name == "state") return core::escaped_for_markup(state_words(status));
  if (name == "state_kind") return state_kind(status);
  if (name == "texts_per_s" || name == "tokens_per_s") return rate_words(request_figure(name));
  if (name == "p50_ms" || name == "p95_ms" || name == "p99_ms") return ms_words(request_figure(name));
  if (name == "queue_tokens") return count_words(waiting_tokens(status));
  if (name == "queue_limit") return count_words(number_of(member(member(status, "limits"), "queue_tokens")));
  if (name == "key_hidden") return is_locked(status) ? "" : " hidden";
  if (name == "content_hidden") return is_locked(status) ? " hidden" : "";
  if (name == "without_scripts") {
    return is_locked(status) ? "This page needs JavaScript to send the key."
                             : "JavaScript is off: these are the figures at the time when the page was loaded. Reload "
                               "the page to update them.";
  }
  if (name == "try_hidden") return embedding_models(status) < 1 ? " hidden" : "";
  if (name == "choice_hidden") return embedding_models(status) < 2 ? " hidden" : "";
  return {};
}

}  // namespace

std::string render_page(const Json& status) {
  std::string out;
  out.reserve(document::kPage.size() + document::kStyle.size() + document::kScript.size() + 16384);
  std::string_view rest = document::kPage;
  // Replacements are not searched for names.
  for (;;) {
    const std::size_t begin = rest.find("{{");
    const std::size_t end = begin == std::string_view::npos ? begin : rest.find("}}", begin);
    if (end == std::string_view::npos) break;
    out += rest.substr(0, begin);
    out += value_of(rest.substr(begin + 2, end - begin - 2), status);
    rest.remove_prefix(end + 2);
  }
  out += rest;
  return out;
}

std::string_view page_policy() {
  return document::kPolicy;
}

}  // namespace latebind::server
