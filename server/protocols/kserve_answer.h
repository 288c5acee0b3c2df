// Writes the answer to an inference request: JSON, followed by the data of the outputs requested in binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json_text.h"
#include "core/tensor/tensor.h"
#include "server/protocols/kserve_request.h"
#include "server/refusal.h"
#include "server/transport/http_message.h"

namespace latebind::server::kserve {

// Points into the outcome's memory.
struct AnswerTensor {
  std::string_view name;
  core::ElementType type = core::ElementType::kF32;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> data;
  bool is_binary = false;
};

// Returns the positions in `names` of the outputs that the request selects, in its order; all of `names` if it selects
// none.
[[nodiscard]] Outcome<std::vector<std::size_t>> choose_outputs(const InferRequest& request,
                                                               std::span<const std::string> names);
// Returns a refusal if a value cannot be expressed in JSON. `truncated_texts`, if not 0, becomes a parameter of the
// answer.
[[nodiscard]] Outcome<HttpResponse> infer_answer(std::string_view model, const std::optional<std::string>& id,
                                                 std::span<const AnswerTensor> outputs,
                                                 std::uint64_t truncated_texts = 0);
[[nodiscard]] app::Json infer_answer_schema();

}  // namespace latebind::server::kserve
