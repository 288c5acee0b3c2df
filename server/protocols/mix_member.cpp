#include "server/protocols/mix_member.h"

#include <vector>

namespace latebind::server {

Problem read_mix(const Json& value, std::optional<embedding::MixedWeights>& mix) {
  std::vector<double> numbers;
  if (value.is_array()) {
    for (const Json& item : value.items())
      numbers.push_back(item.is_number() ? item.get<double>() : -1);
  }
  const auto weights = embedding::MixedWeights::of(numbers);
  if (!weights.ok()) return "must be an array: " + std::string(weights.status().message());
  mix = *weights;
  return std::nullopt;
}

app::Json mix_schema() {
  app::Json schema = typed_schema(
      "array",
      "Weights of the scores by dense, sparse and multi_vector, for models with all three (default: 0.4, 0.2, 0.4).");
  schema["items"] = typed_schema("number", "");
  schema["items"]["minimum"] = 0;
  schema["minItems"] = 3;
  schema["maxItems"] = 3;
  return schema;
}

}  // namespace latebind::server
