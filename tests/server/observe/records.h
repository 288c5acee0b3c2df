// Records as the tests need them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "server/observe/records.h"

namespace latebind::test {

inline server::RequestRecord answered_record(std::uint64_t texts = 1, std::uint64_t tokens = 10) {
  using std::chrono::milliseconds;
  server::RequestRecord record;
  record.id = "abc-1";
  record.trace.trace_id.fill(0x1A);
  record.trace.span_id.fill(0x2B);
  record.trace.sampled = true;
  record.method = "POST";
  record.path = "/v1/embeddings";
  record.route = "/v1/embeddings";
  record.protocol = "openai";
  record.model = "small";
  record.status = 200;
  // 2026-01-02T03:04:05.678Z
  record.arrived_at = std::chrono::system_clock::time_point(milliseconds(1'767'323'045'678));
  record.arrived = std::chrono::steady_clock::time_point(std::chrono::hours(1));
  record.answered = record.arrived + milliseconds(12);
  record.tokenizing = milliseconds(1);
  record.waiting = milliseconds(3);
  record.computing = milliseconds(6);
  record.request_bytes = 100;
  record.response_bytes = 2000;
  record.texts = texts;
  record.tokens = tokens;
  record.longest_tokens = tokens / (texts == 0 ? 1 : texts);
  record.is_embedding = true;
  record.device = "openvino:CPU";
  record.precision = "f32";
  return record;
}

inline server::RequestRecord refused_record(unsigned status, const std::string& refusal) {
  server::RequestRecord record = answered_record(0, 0);
  record.status = status;
  record.refusal = refusal;
  record.model.clear();
  record.device.clear();
  record.precision.clear();
  record.tokenizing = record.waiting = record.computing = {};
  return record;
}

}  // namespace latebind::test
