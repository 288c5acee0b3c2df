// Traces: W3C trace context in, spans out as OTLP over HTTP with JSON, without a request ever waiting for it.
//
// A request's span has up to three below it: tokenize, queue, compute. Records wait in a bounded queue and are posted
// some at a time by a thread of the exporter, on a connection of their own. All functions may be called from any
// thread.
//
// Sources: W3C "Trace Context"; OpenTelemetry, "OTLP/HTTP", JSON encoding of ExportTraceServiceRequest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/platform/thread.h"
#include "core/result.h"
#include "server/observe/records.h"

namespace latebind::server {

// The context of a request from its traceparent header, without spaces around it. Where that is missing or wrong, the
// request begins a trace of its own, which is sampled: a server with an endpoint exports it. `span_id` is always new.
[[nodiscard]] TraceContext trace_context_of(std::string_view traceparent);

// "00-<trace>-<span>-01": what is passed on.
[[nodiscard]] std::string traceparent_of(const TraceContext& context);

// Lower-case hexadecimal.
[[nodiscard]] std::string hex_of(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::string hex_of(const TraceContext& context);  // the trace's id

// Random, and never all zeros. For names of things, not for secrets.
void fill_with_random_id(std::span<std::uint8_t> id);

// ExportTraceServiceRequest as JSON for these records.
[[nodiscard]] std::string otlp_json(const RequestRecord* records, std::size_t count, std::string_view service_version);

class TraceExporter {
 public:
  static constexpr std::size_t kWaitingMax = 2048;  // records; more are dropped and counted

  // `endpoint`: "http://HOST:PORT[/PATH]", as OTEL_EXPORTER_OTLP_ENDPOINT has it: "/v1/traces" is added to the path.
  // kInvalidArgument for anything else; https is kUnsupported.
  [[nodiscard]] static core::Status check(const std::string& endpoint);
  // Nothing is contacted yet. Besides the errors of check(): kOutOfMemory, also when no thread can be created.
  static core::Result<std::unique_ptr<TraceExporter>> create(const std::string& endpoint, std::string service_version);
  // Sends what waits, for at most a second.
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;

  // Records that are not sampled are ignored.
  void add(const RequestRecord& record) noexcept;

  [[nodiscard]] std::uint64_t sent() const;
  // For lack of room, or because a post failed; that is also logged, once a minute.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct State;
  explicit TraceExporter(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
  platform::Thread thread_;
};

}  // namespace latebind::server
