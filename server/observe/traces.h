// Traces reads W3C trace context and exports spans as OTLP over HTTP with JSON. Requests never wait for the export.
//
// A request's span has up to three children: tokenize, queue, compute. Records wait in a bounded queue, and a thread of
// the exporter posts them in groups with core/http/. All functions are thread-safe.
//
// Sources: W3C "Trace Context"; OpenTelemetry, "OTLP/HTTP", JSON encoding of ExportTraceServiceRequest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/threads/bounded_worker.h"
#include "server/observe/records.h"

namespace latebind::server {

// Returns the context for a request with this traceparent header, which has no surrounding spaces. If the header is
// missing or invalid, the request starts a new, sampled trace, because a server with an endpoint exports it. `span_id`
// is always new.
[[nodiscard]] TraceContext trace_context_of(std::string_view traceparent);

// Returns the traceparent to pass on: "00-<trace>-<span>-01".
[[nodiscard]] std::string traceparent_of(const TraceContext& context);

// Lower-case hexadecimal.
[[nodiscard]] std::string hex_of(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::string hex_of(const TraceContext& context);  // the trace's id

// Fills in a random id that is not all zeros. Not suitable for secrets.
void fill_with_random_id(std::span<std::uint8_t> id);

// Returns the records as an ExportTraceServiceRequest in JSON.
[[nodiscard]] std::string otlp_json(const RequestRecord* records, std::size_t count, std::string_view service_version);

class TraceExporter {
 public:
  static constexpr std::size_t kWaitingMax = 2048;  // further records are dropped and counted

  // `endpoint` is "http://HOST[:PORT][/PATH]" or the same with https://, as in OTEL_EXPORTER_OTLP_ENDPOINT;
  // "/v1/traces" is appended. Returns kInvalidArgument for anything else.
  [[nodiscard]] static core::Status check(const std::string& endpoint);
  // Connects to nothing yet. Returns the errors of check(), kLibraryNotFound without libcurl, and kOutOfMemory.
  static core::Result<std::unique_ptr<TraceExporter>> create(const std::string& endpoint, std::string service_version);
  // Sends the waiting records, for at most a second.
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;

  // Ignores records that are not sampled.
  void add(const RequestRecord& record) noexcept;

  [[nodiscard]] std::uint64_t sent() const;
  // Records lost because the queue was full, no thread could be created or a post failed. A failed post is also logged,
  // once a minute.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct State;
  explicit TraceExporter(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
  core::BoundedWorker<RequestRecord> worker_;
};

}  // namespace latebind::server
