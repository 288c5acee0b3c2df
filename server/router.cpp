#include "server/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::server {
namespace {

constexpr std::string_view kModel = "{model}";
constexpr std::size_t kPathShownMax = 100;
// Prefixes that proxies and other servers put before "v1".
constexpr std::array<std::string_view, 2> kPrefixes{"api", "openai"};
constexpr std::array<std::string_view, 3> kVersions{"v1", "v2", "v3"};

// A path on which other servers generate text: its last segment, and the protocol that refuses it if the beginning does
// not determine one.
struct Generation {
  std::string_view last_segment;
  const Protocol& (*protocol)();
};
constexpr std::array kGenerations{
    Generation{"completions", openai_protocol}, Generation{"responses", openai_protocol},
    Generation{"messages", openai_protocol},    Generation{"chat", cohere_protocol},
    Generation{"generate", tei_protocol},       Generation{"generate_stream", tei_protocol},
};

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

template <class Text>
std::vector<std::string_view> not_empty(std::span<const Text> segments) {
  std::vector<std::string_view> kept;
  for (const std::string_view segment : segments) {
    if (!segment.empty()) kept.push_back(segment);
  }
  return kept;
}

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return not_empty<std::string_view>(segments);
}

bool is_value(std::string_view segment) {
  return segment.starts_with('{');
}

bool fits(std::span<const std::string_view> given, std::span<const std::string_view> pattern) {
  return std::ranges::equal(given, pattern, [](std::string_view segment, std::string_view of_pattern) {
    return is_value(of_pattern) || segment == of_pattern;
  });
}

// The number of segments that the pattern's {model} spans, or std::nullopt if the path does not match.
std::optional<std::size_t> model_size(std::span<const std::string_view> given,
                                      std::span<const std::string_view> pattern) {
  const auto at = static_cast<std::size_t>(std::ranges::find(pattern, kModel) - pattern.begin());
  if (at == pattern.size() || given.size() <= pattern.size()) return std::nullopt;
  const std::size_t rest = pattern.size() - at - 1;
  if (!fits(given.first(at), pattern.first(at)) || !fits(given.last(rest), pattern.last(rest))) return std::nullopt;
  return given.size() - pattern.size() + 1;
}

std::string joined(std::span<const std::string_view> segments) {
  std::string path;
  for (const std::string_view segment : segments)
    path.append("/").append(segment);
  return path;
}

// "/v1/embeddings, /v1/models".
std::string paths_of(const Protocol& protocol) {
  std::vector<std::string_view> paths;
  for (const Route& route : protocol.routes()) {
    if (!is_one_of(paths, route.path)) paths.push_back(route.path);
  }
  std::string list;
  for (const std::string_view path : paths)
    list.append(list.empty() ? "" : ", ").append(path);
  return list;
}

// Lists one path of each protocol.
std::string first_paths() {
  std::string list;
  for (const Protocol* protocol : protocols())
    list.append(list.empty() ? "" : ", ").append(protocol->routes().front().path);
  return list;
}

}  // namespace

Router::Router() {
  for (const Protocol* protocol : protocols()) {
    for (const Route& route : protocol->routes())
      entries_.push_back({&route, protocol, segments_of(route.path)});
  }
}

void Router::add(const Entry& entry, std::string_view method, Match& match) {
  match.path = entry.route->path;
  if (match.protocol == nullptr) match.protocol = entry.protocol;
  if (!match.allowed.empty()) match.allowed += ", ";
  match.allowed += entry.route->method;
  if (entry.route->method == "GET") match.allowed += ", HEAD";
  if (entry.route->method != (method == "HEAD" ? "GET" : method) || match.route != nullptr) return;
  match.route = entry.route;
  match.protocol = entry.protocol;
}

Router::Match Router::match_of(std::string_view method, Segments segments) const {
  Match match;
  const Entry* chosen = nullptr;
  for (const Entry& entry : entries_) {
    if (!fits(segments, entry.segments)) continue;
    add(entry, method, match);
    if (match.route == entry.route) chosen = &entry;
  }
  std::size_t model_segments = 1;
  if (match.path.empty()) {
    // The longest pattern is the most specific. It must have the method, because the rest of another path is not part
    // of a model's name.
    for (const Entry& entry : entries_) {
      const auto size = model_size(segments, entry.segments);
      const bool has_method = method == "OPTIONS" || entry.route->method == (method == "HEAD" ? "GET" : method);
      if (!size || !has_method || (chosen != nullptr && chosen->segments.size() >= entry.segments.size())) continue;
      chosen = &entry;
      model_segments = *size;
    }
    for (const Entry& entry : entries_) {
      if (chosen != nullptr && entry.route->path == chosen->route->path) add(entry, method, match);
    }
  }
  if (match.route == nullptr) return match;
  for (const std::string_view pattern : chosen->segments) {
    const std::size_t count = pattern == kModel ? model_segments : 1;
    if (is_value(pattern)) match.values.push_back(joined(segments.first(count)).substr(1));
    segments = segments.subspan(count);
  }
  return match;
}

Router::Match Router::find(std::string_view method, std::span<const std::string> segments) const {
  Match match{.protocol = &own_protocol()};
  if (segments.empty()) return match;
  const auto kept = not_empty(segments);
  Segments asked = kept;
  match = match_of(method, asked);
  const bool has_prefix = asked.size() > 1 && is_one_of(kPrefixes, asked[0]) && is_one_of(kVersions, asked[1]);
  if (match.path.empty() && has_prefix) {
    asked = asked.subspan(1);
    match = match_of(method, asked);
  }
  if (match.path.empty()) find_nearest(asked, match);
  return match;
}

void Router::find_nearest(Segments segments, Match& match) const {
  match.protocol = nullptr;
  const std::string_view first = segments.empty() ? std::string_view() : segments.front();
  for (const Entry& entry : entries_) {
    if (!entry.segments.empty() && entry.segments.front() == first) match.protocol = entry.protocol;
  }
  const auto generation =
      std::ranges::find(kGenerations, segments.empty() ? first : segments.back(), &Generation::last_segment);
  match.generates_text = generation != kGenerations.end();
  if (match.generates_text) {
    const Protocol& usual = generation->protocol();
    // Ollama's paths are below /api. Cohere's are below versions that other protocols share.
    if (match.protocol == nullptr || (first != "api" && &usual == &cohere_protocol())) match.protocol = &usual;
    return;
  }
  const auto paths = core::words_of(entries_, [](const Entry& entry) { return entry.route->path; });
  match.nearest = core::nearest_word(joined(segments), paths);
  for (const Entry& entry : entries_) {
    if (!match.nearest.empty() && entry.route->path == match.nearest) match.protocol = entry.protocol;
  }
  // "/embed_batch" begins like "/embed".
  for (const Entry& entry : entries_) {
    const bool begins_like = !entry.segments.empty() && first.starts_with(entry.segments.front());
    if (match.protocol == nullptr && begins_like) match.protocol = entry.protocol;
  }
  if (match.protocol == nullptr) match.protocol = &own_protocol();
}

Refusal Router::refusal_of(const Match& match, std::string_view method, std::string_view path) {
  if (!match.path.empty()) {
    return {.kind = RefusalKind::kMethodNotAllowed,
            .message = fmt::format("{} takes {}, not {}", match.path, match.allowed, core::quoted(method, 20)),
            .param = {}};
  }
  std::string message = match.generates_text
                            ? "this server computes embeddings and does not generate text"
                            : fmt::format("there is no path {} here", core::quoted(path, kPathShownMax));
  if (!match.nearest.empty()) message += fmt::format(" ({} is near)", match.nearest);
  const bool is_like_none = match.protocol == &own_protocol();
  message += fmt::format(". There {} {}; /openapi.json lists every path", is_like_none ? "are, for example," : "are",
                         is_like_none ? first_paths() : paths_of(*match.protocol));
  return {.kind = RefusalKind::kNotFound, .message = std::move(message), .param = {}};
}

}  // namespace latebind::server
