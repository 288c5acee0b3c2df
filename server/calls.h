// The calls of the service and their results, independently of protocols. Values.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"
#include "embedding/comparison.h"
#include "embedding/inputs/text_role.h"
#include "embedding/outputs/dense.h"
#include "embedding/results.h"
#include "server/refusal.h"
#include "server/served_model.h"

namespace latebind::server {

// How errors refer to the texts of a request: "input[3]".
struct TextNames {
  std::string_view list = "texts";
  // The name and the number of the texts that come before the list.
  std::string_view before{};
  std::size_t count_before = 0;

  [[nodiscard]] std::string operator()(std::uint64_t position) const;
};

// The texts of one request, or their token ids including special tokens.
struct VectorCall {
  std::string model{};  // empty: the first model
  TextNames names{};
  std::variant<std::vector<std::string>, std::vector<std::vector<std::int32_t>>> texts{};
  std::size_t too_many = 0;        // the number of texts if above the limit, which are then not in `texts`; otherwise 0
  std::size_t dimensions = 0;      // 0: all
  std::optional<bool> truncate{};  // std::nullopt: the server's default
  bool keep_end = false;           // truncates at the beginning
  bool normalize = true;           // scales the vectors of texts to length 1; false: as the model returns them
  // The names of the wanted outputs, all of one pass.
  std::vector<std::string> outputs{std::string(embedding::kDenseOutput.name)};
  // The role of the texts. A model may have a prompt or a separate route for it.
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  // The prompt put before every text. "" means no prompt, std::nullopt the model's default.
  std::optional<std::string> prompt_name{};
  // The model's task for the texts. std::nullopt: the task of the role.
  std::optional<std::string> task{};
  // What the vectors are for, see Prompts::for_purpose(), instead of a prompt and a task; empty: unspecified.
  std::string_view purpose{};
};

// A query and the documents to score against it.
struct ScoreCall {
  std::string model{};  // empty: the first model that gives scores, a cross-encoder or a multi-vector encoder
  TextNames names{.list = "documents"};
  std::string query{};
  std::vector<std::string> documents{};
  std::size_t too_many = 0;  // see VectorCall
  // The weights of the mixed score, for models that have one; std::nullopt: the defaults.
  std::optional<embedding::MixedWeights> mix{};
  // The instruction of a cross-encoder. "": no instruction; std::nullopt: the model's default.
  std::optional<std::string> instruct{};
  // A lower limit than the model's is refused, since documents have no separate limit.
  std::size_t document_tokens_max = std::numeric_limits<std::size_t>::max();
  std::optional<bool> truncate{};  // std::nullopt: the server's default
  bool keep_end = false;
};

// Texts, or pairs of texts, to classify.
struct PredictCall {
  std::string model{};  // empty: the first model that gives scores
  TextNames names{.list = "inputs"};
  std::variant<std::vector<std::string>, std::vector<std::array<std::string, 2>>> inputs{};
  std::size_t too_many = 0;               // see VectorCall
  std::optional<std::string> instruct{};  // see ScoreCall
  std::optional<bool> truncate{};         // std::nullopt: the server's default
  bool keep_end = false;
};

// The results of a request, one for each output that it asked for. A score of a pair is the network's number.
struct Vectors {
  const ServedModel* model = nullptr;
  std::vector<embedding::OutputResult> results{};
  std::vector<std::uint32_t> token_counts{};
  std::uint64_t tokens = 0;
  std::uint64_t truncated_texts = 0;
  std::chrono::steady_clock::duration tokenizing{};
  std::chrono::steady_clock::duration waiting{};
  std::chrono::steady_clock::duration computing{};

  [[nodiscard]] std::size_t count() const { return token_counts.size(); }
  // The first result, for a request that asked for an output of this form.
  [[nodiscard]] embedding::Rows& rows() { return std::get<embedding::Rows>(results.front()); }
  [[nodiscard]] const embedding::Rows& rows() const { return std::get<embedding::Rows>(results.front()); }
  [[nodiscard]] const embedding::SparseRows& sparse() const { return std::get<embedding::SparseRows>(results.front()); }
  [[nodiscard]] const embedding::RaggedRows& ragged() const { return std::get<embedding::RaggedRows>(results.front()); }
  // 0 without a result.
  [[nodiscard]] std::size_t dimension() const { return results.empty() ? 0 : rows().dimension; }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(rows().numbers).subspan(i * dimension(), dimension());
  }
};

// A named tensor, for models that take tensors.
struct NamedTensor {
  std::string name;
  core::ElementType type = core::ElementType::kF32;
  core::Shape shape{};
  std::vector<std::byte> data{};  // dense, row-major, little-endian
};

struct TensorCall {
  std::string model{};
  std::vector<NamedTensor> inputs{};
};

template <class T>
using Outcome = std::variant<T, Refusal>;

}  // namespace latebind::server
