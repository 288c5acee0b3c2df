#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "core/json/value.h"
#include "server/observe/traces.h"

namespace latebind::server {
namespace {

using Json = core::Json;

// OpenTelemetry's numbers.
constexpr int kInternalSpan = 1;
constexpr int kServerSpan = 2;
constexpr int kStatusError = 2;

// JSON of protobuf writes 64-bit numbers as strings.
Json int_value(std::uint64_t value) {
  return {{"intValue", std::to_string(value)}};
}

class Attributes {
 public:
  void add(const char* name, std::string_view text) {
    if (!text.empty()) list_.push_back({{"key", name}, {"value", {{"stringValue", text}}}});
  }
  void add_count(const char* name, std::uint64_t count) {
    if (count > 0) list_.push_back({{"key", name}, {"value", int_value(count)}});
  }
  void add_flag(const char* name, bool is_so) { list_.push_back({{"key", name}, {"value", {{"boolValue", is_so}}}}); }
  [[nodiscard]] Json take() { return std::move(list_); }

 private:
  Json list_ = Json::array();
};

std::string nanoseconds_of(std::chrono::system_clock::time_point at) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
  return std::to_string(std::max<std::int64_t>(0, since));
}

// Clients may send any word as the method; OpenTelemetry expects known ones.
bool is_known_method(std::string_view method) {
  constexpr std::string_view kKnown[] = {"GET",     "POST",  "PUT",     "DELETE", "HEAD",
                                         "OPTIONS", "PATCH", "CONNECT", "TRACE"};
  return std::find(std::begin(kKnown), std::end(kKnown), method) != std::end(kKnown);
}

struct Interval {
  std::chrono::system_clock::time_point begin;
  std::chrono::system_clock::time_point end;
};

Json span_of(const RequestRecord& record, const Interval& time, const std::string& id, const std::string& parent,
             std::string name, int kind) {
  Json span{{"traceId", hex_of(record.trace)}, {"spanId", id}};
  if (!parent.empty()) span["parentSpanId"] = parent;
  span["name"] = std::move(name);
  span["kind"] = kind;
  span["startTimeUnixNano"] = nanoseconds_of(time.begin);
  span["endTimeUnixNano"] = nanoseconds_of(time.end);
  return span;
}

Json attributes_of(const RequestRecord& record, std::string_view method) {
  Attributes attributes;
  attributes.add("http.request.method", method);
  attributes.add("http.route", record.route);
  attributes.add_count("http.response.status_code", record.status);
  attributes.add_count("http.request.body.size", record.request_bytes);
  attributes.add_count("http.response.body.size", record.response_bytes);
  attributes.add("error.type", record.refusal);
  attributes.add("latebind.request_id", record.id);
  attributes.add("latebind.protocol", record.protocol);
  attributes.add("latebind.model", record.model);
  attributes.add_count("latebind.texts", record.texts);
  attributes.add_count("latebind.tokens", record.tokens);
  attributes.add_count("latebind.truncated_texts", record.truncated_texts);
  attributes.add("latebind.device", record.device);
  attributes.add("latebind.precision", record.precision);
  if (!record.device.empty()) attributes.add_flag("latebind.fallback", record.fallback);
  if (record.client_gone) attributes.add_flag("latebind.client_gone", true);
  return attributes.take();
}

void append_spans(Json& spans, const RequestRecord& record) {
  const auto system_time = [](std::chrono::steady_clock::duration time) {
    return std::chrono::duration_cast<std::chrono::system_clock::duration>(
        std::max(time, std::chrono::steady_clock::duration::zero()));
  };
  const Interval whole{record.arrived_at, record.arrived_at + system_time(record.answered - record.arrived)};
  const std::string method = is_known_method(record.method) ? record.method : "_OTHER";
  const std::string id = hex_of(record.trace.span_id);
  const bool has_parent = record.trace.parent_id != decltype(record.trace.parent_id){};
  std::string name = method == "_OTHER" ? "HTTP" : method;
  if (!record.route.empty()) name += " " + record.route;
  Json server =
      span_of(record, whole, id, has_parent ? hex_of(record.trace.parent_id) : "", std::move(name), kServerSpan);
  server["attributes"] = attributes_of(record, method);
  // A refusal is the client's error, so the span has none.
  if (record.status >= 500) server["status"] = {{"code", kStatusError}};
  spans.push_back(std::move(server));

  // The steps are consecutive and end with the answer. Reading the body, which a slow client may delay, precedes them.
  const std::pair<const char*, std::chrono::steady_clock::duration> steps[] = {
      {"compute", record.computing}, {"queue", record.waiting}, {"tokenize", record.tokenizing}};
  auto end = whole.end;
  for (const auto& [step, time] : steps) {
    if (time.count() <= 0) continue;
    const Interval interval{std::max(whole.begin, end - system_time(time)), end};
    std::array<std::uint8_t, 8> step_id{};
    fill_with_random_id(step_id);
    spans.push_back(span_of(record, interval, hex_of(step_id), id, step, kInternalSpan));
    end = interval.begin;
  }
}

}  // namespace

std::string otlp_json(const RequestRecord* records, std::size_t count, std::string_view service_version) {
  Json spans = Json::array();
  for (std::size_t i = 0; i < count; ++i)
    append_spans(spans, records[i]);
  Attributes resource;
  resource.add("service.name", "latebind");
  resource.add("service.version", service_version);
  Json scope_spans = {{"scope", {{"name", "latebind"}, {"version", service_version}}}, {"spans", std::move(spans)}};
  Json resource_spans = {{"resource", {{"attributes", resource.take()}}}};
  resource_spans["scopeSpans"].push_back(std::move(scope_spans));
  Json request;
  request["resourceSpans"].push_back(std::move(resource_spans));
  return request.dump();
}

}  // namespace latebind::server
