// Builds a random graph around one operator: the parts that the cases of all operators share (operator_cases.h).
//
// A case first plans its x and its weights, then begins the graph. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "core/result.h"
#include "kit/networks/pattern_weights.h"
#include "kit/reference/array.h"

namespace latebind::kit {

// Where the x of an operator comes from. Some devices only take graphs of one kind.
enum class CaseSource : unsigned char {
  kNumbers,  // an input f32
  kTokens,   // rows of a table, looked up by an input of ids
};

struct CaseOptions {
  CaseSource source = CaseSource::kNumbers;
  bool is_static = false;  // the inputs have static shapes
};

// A graph with one output, and a batch for it.
struct GraphCase {
  graph::Graph graph;
  Inputs inputs{};
  std::string text{};  // for people: "linear: x [2,5,8], weight f16 [3,8]"
};

class CaseBuilder {
 public:
  CaseBuilder(std::mt19937& chance, const CaseOptions& options);

  // Random choices.
  [[nodiscard]] std::int64_t up_to(std::int64_t most);  // from 1 on
  [[nodiscard]] bool one_in(std::int64_t count) { return up_to(count) == 1; }
  // A width: mostly small, sometimes around a power of two, sometimes large.
  [[nodiscard]] std::int64_t width();

  // B and T of this case.
  [[nodiscard]] std::int64_t texts() const { return texts_; }
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }
  void set_tokens(std::int64_t tokens) { tokens_ = tokens; }
  [[nodiscard]] bool has_numbers() const { return options_.source == CaseSource::kNumbers; }

  // Plans x [B,T,columns].
  void plan_x(std::int64_t columns);
  // Adds a weight of the case's type. Before begin().
  graph::Weight weight(std::string name, const core::Shape& shape);
  // Likewise, in one of two cases.
  std::optional<graph::Weight> maybe_weight(std::string name, const core::Shape& shape);

  void begin();
  graph::Value add(graph::Operator op) { return graph_->add(std::move(op)); }
  // The planned x.
  [[nodiscard]] graph::Value x();
  // Another value [B,T,columns]; an input where the source is numbers, otherwise x itself if it has as many columns.
  [[nodiscard]] graph::Value another(const char* name, std::int64_t columns);
  // An input of numbers with this shape, for kNumbers. `first` of its dimensions are dynamic unless shapes are static.
  [[nodiscard]] graph::Value numbers(const char* name, const Dims& dims, std::size_t first);
  // The ids of kTokens, below `vocabulary`. The same value each time.
  [[nodiscard]] graph::Value ids(std::int64_t vocabulary);
  // A mask with random lengths, which may have unattended tokens. The same value each time.
  [[nodiscard]] graph::Value mask(bool may_be_unattended = false);

  // Appends to the description.
  void say(std::string_view text) { text_ += text; }
  [[nodiscard]] core::Result<GraphCase> finish(graph::Value output) &&;

 private:
  [[nodiscard]] core::Shape declared(const Dims& dims, std::size_t dynamic) const;
  [[nodiscard]] double number();

  static constexpr std::int64_t kVocabulary = 40;

  std::mt19937& chance_;
  const CaseOptions options_;
  const core::ElementType type_;
  const double size_;  // of the numbers of inputs
  std::int64_t texts_;
  std::int64_t tokens_;
  std::int64_t columns_ = 0;
  PatternWeights weights_;
  graph::Weight table_;
  std::optional<graph::GraphBuilder> graph_;
  std::optional<graph::Value> ids_;
  std::optional<graph::Value> mask_;
  std::optional<graph::Value> x_;
  Inputs inputs_;
  std::string text_;
};

}  // namespace latebind::kit
