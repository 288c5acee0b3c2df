// The answer to an inference request: JSON, and after it the data of those outputs that are wanted in binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json_text.h"
#include "core/tensor.h"
#include "server/protocols/kserve_request.h"
#include "server/refusal.h"
#include "server/transport/http_message.h"

namespace latebind::server::kserve {

// Refers to memory of the outcome.
struct AnswerTensor {
  std::string_view name;
  core::ElementType type = core::ElementType::kF32;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> data;
  bool is_binary = false;
};

// Those that the request wants, in its order: all of `names` where it names none. By their positions in `names`.
[[nodiscard]] Outcome<std::vector<std::size_t>> choose_outputs(const InferRequest& request,
                                                               std::span<const std::string> names);
// What comes back as a refusal cannot stand in JSON. `truncated_texts`: those that were cut, as a parameter where there
// are any.
[[nodiscard]] Outcome<HttpResponse> infer_answer(std::string_view model, const std::optional<std::string>& id,
                                                 std::span<const AnswerTensor> outputs,
                                                 std::uint64_t truncated_texts = 0);
[[nodiscard]] app::Json infer_answer_schema();

}  // namespace latebind::server::kserve
