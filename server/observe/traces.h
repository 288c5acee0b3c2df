// Traces: W3C trace context in, spans out as OTLP over HTTP with JSON, without a request ever waiting for it.
//
// A request's span has three below it: tokenize, queue, compute. Spans wait in a bounded queue (2,048; more are dropped
// and counted) and are posted in batches by a thread of this object.
//
// Sources: W3C "Trace Context"; OpenTelemetry, "OTLP/HTTP", JSON encoding of ExportTraceServiceRequest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "server/observe/records.h"

namespace latebind::server {

// The context of a request from its traceparent header; a new, unsampled-by-nobody one where that is missing or wrong:
// then `sampled` is true, so that a server with an endpoint exports it. `span_id` is always new.
[[nodiscard]] TraceContext trace_context_of(std::string_view traceparent);

// "00-<trace>-<span>-01": what is passed on.
[[nodiscard]] std::string traceparent_of(const TraceContext& context);

// Lower-case hexadecimal.
[[nodiscard]] std::string hex_of(const TraceContext& context);  // the trace's id

// ExportTraceServiceRequest as JSON for these records.
[[nodiscard]] std::string otlp_json(const RequestRecord* records, std::size_t count, std::string_view service_version);

class TraceExporter {
 public:
  // `endpoint`: "http://HOST:PORT[/PATH]", as OTEL_EXPORTER_OTLP_ENDPOINT has it: "/v1/traces" is added to the path.
  // kInvalidArgument for anything else; https is kUnsupported. Nothing is contacted yet.
  static core::Result<std::unique_ptr<TraceExporter>> create(const std::string& endpoint, std::string service_version);
  // Sends what waits, for at most a second.
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;

  // Records that are not sampled are ignored.
  void add(const RequestRecord& record) noexcept;

  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct State;
  explicit TraceExporter(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace latebind::server
