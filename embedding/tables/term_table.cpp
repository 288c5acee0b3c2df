#include "embedding/tables/term_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/tensor/half.h"
#include "embedding/architectures/encoder.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kWeights = "weight";

template <class Stored, class Convert>
std::vector<float> numbers_of(std::span<const std::byte> bytes, const Convert& convert) {
  std::vector<float> numbers;
  numbers.reserve(bytes.size() / sizeof(Stored));
  for (std::size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored)) {
    Stored stored{};
    std::memcpy(&stored, bytes.data() + at, sizeof(Stored));
    numbers.push_back(convert(stored));
  }
  return numbers;
}

std::vector<float> numbers_of(const StoredTensor& tensor) {
  if (tensor.type == ElementType::kF32) return numbers_of<float>(tensor.bytes, [](float number) { return number; });
  return numbers_of<std::uint16_t>(tensor.bytes, tensor.type == ElementType::kF16 ? core::from_f16 : core::from_bf16);
}

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
  std::vector<float> weights = numbers_of(stored);
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
