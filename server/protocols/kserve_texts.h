// Inference with models that take texts. An embedder has the input "text", BYTES [n], and the output "embedding", FP32
// [n, d]. A cross-encoder has the inputs "text" and "text_pair", BYTES [n], and the output "score", FP32 [n, labels];
// without "text_pair" it classifies single texts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "server/protocols/kserve_answer.h"
#include "server/protocols/kserve_request.h"
#include "server/protocols/route.h"

namespace latebind::server::kserve {

struct TextForm {
  std::span<const std::string_view> inputs;
  std::string_view output;
  // Answers the exchange, now or later.
  void (*infer)(const ExchangePtr& exchange, const ServedModel& model, InferRequest request, Service& service);
};
// Returns null for a model that takes tensors, or whose results this protocol does not give.
[[nodiscard]] const TextForm* text_form_of(const ServedModel& model);

// Returns whether the output is sent after the JSON.
[[nodiscard]] bool is_binary(const InferRequest& request, std::string_view output);
void answer_with(Exchange& exchange, const ServedModel& model, const InferRequest& request,
                 std::span<const AnswerTensor> outputs, std::uint64_t truncated_texts = 0);

}  // namespace latebind::server::kserve
