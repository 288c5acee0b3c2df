#include "server/router.h"

#include <algorithm>

namespace latebind::server {
namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

bool is_value(std::string_view segment) {
  return segment.starts_with('{');
}

}  // namespace

Router::Router() {
  for (const Protocol* protocol : protocols()) {
    for (const Route& route : protocol->routes())
      entries_.push_back({&route, protocol, segments_of(route.path)});
  }
}

Router::Match Router::find(std::string_view method, std::span<const std::string> segments) const {
  Match match;
  match.protocol = &own_protocol();
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Entry& entry : entries_) {
    if (!segments.empty() && !entry.segments.empty() && segments.front() == entry.segments.front()) {
      match.protocol = entry.protocol;
    }
    const bool fits =
        std::ranges::equal(segments, entry.segments, [](std::string_view given, std::string_view pattern) {
          return is_value(pattern) ? !given.empty() : given == pattern;
        });
    if (!fits) continue;
    match.path = entry.route->path;
    if (!match.allowed.empty()) match.allowed += ", ";
    match.allowed += entry.route->method;
    if (entry.route->method == "GET") match.allowed += ", HEAD";
    if (entry.route->method != wanted || match.route != nullptr) continue;
    match.route = entry.route;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (is_value(entry.segments[i])) match.values.emplace_back(segments[i]);
    }
  }
  if (match.route != nullptr) {
    for (const Entry& entry : entries_) {
      if (entry.route == match.route) match.protocol = entry.protocol;
    }
  }
  return match;
}

}  // namespace latebind::server
