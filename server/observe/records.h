// The records of a request and of a batch, which metrics, log and traces are made from. Values.
//
// Neither contains a text, a vector or a key of a client.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "embedding/schedule/scheduler.h"

namespace latebind::server {

// Source: W3C, "Trace Context" (traceparent, version 00).
struct TraceContext {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> parent_id{};  // the caller's span; zeros: this request starts the trace
  std::array<std::uint8_t, 8> span_id{};    // of this request
  bool sampled = false;
};

// Filled in step by step while the request is processed, and constant once it is over.
struct RequestRecord {
  std::string id{};  // x-request-id: the client's if valid, otherwise generated
  TraceContext trace{};
  std::string method{};
  std::string path{};      // as requested; empty if no request could be parsed
  std::string route{};     // as in the table, "/v2/models/{model}/infer"; empty for an unknown path
  std::string protocol{};  // "openai"; empty without a route
  std::string model{};     // the served name; empty if no model is involved
  unsigned status = 0;     // HTTP status; 499: the client left before the answer
  std::string refusal{};   // the kind of refusal, a word of a fixed list such as "overloaded"; empty for success

  std::chrono::system_clock::time_point arrived_at{};
  std::chrono::steady_clock::time_point arrived{};   // time of the first byte
  std::chrono::steady_clock::time_point answered{};  // time when the answer was made
  // Zero for a step that did not take place.
  std::chrono::steady_clock::duration tokenizing{};
  std::chrono::steady_clock::duration waiting{};
  std::chrono::steady_clock::duration computing{};

  std::uint64_t request_bytes = 0;  // of the body
  std::uint64_t response_bytes = 0;
  std::uint64_t texts = 0;
  std::uint64_t characters = 0;
  std::uint64_t tokens = 0;
  std::uint64_t truncated_texts = 0;
  std::uint64_t longest_tokens = 0;  // in one text
  bool is_embedding = false;         // the request asked for vectors

  std::string device{};  // "openvino:CPU": the device that answered; empty if nothing was computed
  std::string precision{};
  bool fallback = false;
  bool client_gone = false;  // before the answer
};

using embedding::BatchRecord;

// Computed tokens that do not belong to a text. Metrics, status and page call them padding.
[[nodiscard]] inline std::uint64_t padded_tokens(const BatchRecord& batch) {
  return batch.computed_tokens - std::min(batch.computed_tokens, batch.tokens);
}

}  // namespace latebind::server
