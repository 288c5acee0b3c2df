#include "embedding/tables/term_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "embedding/architectures/encoder.h"
#include "embedding/weights/floats_of.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kWeights = "weight";

}  // namespace

Result<TermTable> TermTable::read(const TensorFile& file) {
  const auto invalid = [&](std::string_view what) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", file.name(), what));
  };
  const auto shape = file.shape_of(kWeights);
  if (!shape) return invalid("no tensor 'weight', which a table of the vocabulary's weights has");
  if (shape->size() != 1 || shape->front() <= 0 || static_cast<std::size_t>(shape->front()) > kVocabularyMax) {
    return invalid(fmt::format("'weight' has the shape [{}]; a number for each entry of the vocabulary was expected",
                               fmt::join(*shape, ",")));
  }
  LB_ASSIGN_OR_RETURN(const StoredTensor stored, file.find(kWeights, *shape));
  std::vector<float> weights = floats_of(stored);
  const auto bad = std::ranges::find_if(weights, [](float weight) { return !std::isfinite(weight) || weight < 0; });
  if (bad != weights.end()) {
    return invalid(fmt::format("'weight'[{}] is {}; weights must be numbers from 0 on", bad - weights.begin(), *bad));
  }
  return TermTable(std::move(weights));
}

void TermTable::weigh(std::span<const std::int32_t> ids, const SparseRule& rule, SparseVector& out) const {
  out.indices.assign(ids.begin(), ids.end());
  out.values.clear();
  std::ranges::sort(out.indices);
  // Not std::ranges::unique(), whose result clang 14 rejects in some translation units.
  out.indices.erase(std::unique(out.indices.begin(), out.indices.end()), out.indices.end());
  std::erase_if(out.indices, [this](std::uint32_t id) { return weights_[id] == 0; });
  for (const std::uint32_t id : out.indices)
    out.values.push_back(weights_[id]);
  if (rule.most > 0) keep_largest(out, rule.most);
}

}  // namespace latebind::embedding
