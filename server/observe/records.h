// What became of a request, and of a batch: what metrics, log and traces are made of. Values.
//
// Neither holds any text, vector or key of a client.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "embedding/scheduler.h"

namespace latebind::server {

// Source: W3C, "Trace Context" (traceparent, version 00).
struct TraceContext {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> parent_id{};  // the caller's span; zeros: this request begins the trace
  std::array<std::uint8_t, 8> span_id{};    // this request's own
  bool sampled = false;
};

// Filled by whoever learns something of it, one after the other, and constant once it is over.
struct RequestRecord {
  std::string id{};  // x-request-id: the client's where it is usable, else one of ours
  TraceContext trace{};
  std::string method{};
  std::string path{};      // as it was asked for; empty where no request was understood
  std::string route{};     // as in the table, "/v2/models/{model}/infer"; empty where there is no such path
  std::string protocol{};  // "openai"; empty without a route
  std::string model{};     // its served name; empty where none is concerned
  unsigned status = 0;     // of HTTP; 499: the client left before it was answered
  std::string refusal{};   // why it was not answered well: "overloaded", in words of a fixed list; else empty

  std::chrono::system_clock::time_point arrived_at{};
  std::chrono::steady_clock::time_point arrived{};   // its first byte
  std::chrono::steady_clock::time_point answered{};  // its answer was made
  // Zero where there was no such step.
  std::chrono::steady_clock::duration tokenizing{};
  std::chrono::steady_clock::duration waiting{};
  std::chrono::steady_clock::duration computing{};

  std::uint64_t request_bytes = 0;  // of the body
  std::uint64_t response_bytes = 0;
  std::uint64_t texts = 0;
  std::uint64_t characters = 0;
  std::uint64_t tokens = 0;
  std::uint64_t truncated_texts = 0;
  std::uint64_t longest_tokens = 0;  // of one text
  bool is_embedding = false;         // vectors were asked for

  std::string device{};  // "openvino:CPU": what answered; empty where nothing was computed
  std::string precision{};
  bool fallback = false;
  bool client_gone = false;  // before it was answered
};

using embedding::BatchRecord;

// Those tokens that were computed and stand for no text: what metrics, status and page call padding.
[[nodiscard]] inline std::uint64_t padded_tokens(const BatchRecord& batch) {
  return batch.computed_tokens - std::min(batch.computed_tokens, batch.tokens);
}

}  // namespace latebind::server
