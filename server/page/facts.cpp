#include "server/page/figures.h"
#include "server/page/markup.h"
#include "server/page/page_parts.h"

namespace latebind::server {
namespace {

using core::Json;

std::string listened(const Json& list) {
  std::vector<std::string> addresses;
  if (list.is_array()) {
    for (const Json& entry : list)
      addresses.push_back(text_of(entry));
  }
  return joined(addresses);
}

// "3 of 1,024", or only the first number if there is no limit.
std::string of_limit(const std::string& used, std::optional<double> limit, const std::string& limit_words) {
  return limit ? used + " of " + limit_words : used;
}

std::string cache_words(const Json& cache) {
  if (!cache.is_object()) return {};
  if (!is_true(member(cache, "enabled"))) return "off";
  const std::optional<double> most = number_of(member(cache, "max_bytes"));
  return joined({most && *most > 0 ? "up to " + bytes_words(most) : "", text_of(member(cache, "folder"))});
}

std::string limit_words(const Json& limits) {
  const std::optional<double> body = number_of(member(limits, "body_bytes"));
  const std::optional<double> timeout = number_of(member(limits, "request_timeout_ms"));
  return joined(
      {counted(number_of(member(limits, "texts")), "text") + (number_of(member(limits, "texts")) ? " a request" : ""),
       body ? bytes_words(body) + " a body" : "", timeout ? ms_words(timeout) + " of time" : ""});
}

}  // namespace

std::string server_markup(const Json& status) {
  const Json& requests = member(status, "requests");
  const Json& limits = member(status, "limits");
  const std::optional<double> connections = number_of(member(status, "connections"));
  const std::optional<double> most = number_of(member(limits, "connections"));
  const std::optional<double> resident = number_of(member(member(status, "memory"), "resident_bytes"));
  const std::string started = text_of(member(status, "started_at"));
  Markup out;
  out.open("dl", {{"class", "facts"}});
  fact(out, "Version", text_of(member(status, "version")));
  fact(out, "Started", started.empty() ? "" : time_words(started));
  fact(out, "Listens on", listened(member(status, "listen")));
  if (requests.is_object()) {
    fact(out, "Requests",
         joined({count_words(number_of(member(requests, "total"))) + " in all",
                 count_words(number_of(member(requests, "in_flight"))) + " in flight",
                 count_words(number_of(member(requests, "refused"))) + " refused",
                 count_words(number_of(member(requests, "failed"))) + " failed"}));
  }
  fact(out, "Connections", connections ? of_limit(count_words(connections), most, count_words(most)) : "");
  fact(out, "Memory", resident ? bytes_words(resident) : "");
  fact(out, "Compile cache", cache_words(member(status, "cache")));
  fact(out, "Limits", limit_words(limits));
  out.close("dl");
  return out.take();
}

}  // namespace latebind::server
