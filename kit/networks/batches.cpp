#include "kit/networks/batches.h"

#include <algorithm>

#include "core/graph/operators.h"

namespace latebind::kit {

Inputs draw_batch(std::mt19937& chance, const std::vector<std::int64_t>& lengths, std::int64_t vocabulary,
                  std::int64_t more) {
  const std::int64_t width = std::ranges::max(lengths) + more;
  Array ids{{static_cast<std::int64_t>(lengths.size()), width}, {}};
  Array mask = ids;
  std::uniform_int_distribution<std::int64_t> id(0, vocabulary - 1);
  for (const std::int64_t length : lengths) {
    for (std::int64_t t = 0; t < width; ++t) {
      ids.values.push_back(t < length ? static_cast<double>(id(chance)) : 0);
      mask.values.push_back(t < length ? 1 : 0);
    }
  }
  return {{"ids", ids}, {"mask", mask}};
}

void leave_unattended(Inputs& inputs, std::int64_t count) {
  Array& mask = inputs.at("mask");
  const std::int64_t width = mask.shape[1];
  for (std::int64_t text = 0; text < mask.shape[0]; ++text) {
    const auto row = mask.values.begin() + text * width;
    const std::int64_t tokens = std::count(row, row + width, 1.0);
    for (std::int64_t t = std::max<std::int64_t>(1, tokens - count); t < tokens; ++t)
      row[t] = static_cast<double>(graph::kUnattended);
  }
}

}  // namespace latebind::kit
