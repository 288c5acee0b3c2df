// Reads the body of an inference request: JSON, followed by the data of the inputs sent in binary.
//
// Source: KServe's Open Inference Protocol, version 2, and Triton's binary tensor data extension. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/json_text.h"
#include "embedding/inputs/text_role.h"
#include "server/refusal.h"
#include "server/service.h"

namespace latebind::server::kserve {

// The strings of an input of type BYTES.
struct TextTensor {
  std::string name;
  core::Shape shape{};
  std::vector<std::string> texts{};  // as many as the shape says, or none; arbitrary bytes
};

struct WantedOutput {
  std::string name;
  std::optional<bool> is_binary{};  // std::nullopt: as the request says for all outputs
};

struct InferRequest {
  std::optional<std::string> id{};
  std::vector<std::variant<NamedTensor, TextTensor>> inputs{};
  std::vector<WantedOutput> outputs{};  // empty: all
  bool is_binary = false;               // for outputs that do not specify it
  // Latebind's extensions for models that take texts.
  std::optional<bool> truncate{};
  bool normalize = true;
  std::size_t dimensions = 0;  // 0: all
  std::optional<std::string> prompt_name{};
  std::optional<std::string> task{};
  std::optional<std::string> instruct{};  // of cross-encoders
  bool raw_scores = false;                // of cross-encoders: the network's numbers, without the model's function
  embedding::TextRole role = embedding::TextRole::kUnspecified;
};

// `header_length` is the value of Inference-Header-Content-Length; if empty, the whole body is JSON. Once the total of
// texts exceeds `texts_max`, further inputs are checked but their texts are dropped.
[[nodiscard]] Outcome<InferRequest> parse_infer(std::string_view header_length, std::string_view body,
                                                std::size_t texts_max);
[[nodiscard]] app::Json infer_request_schema();

}  // namespace latebind::server::kserve
