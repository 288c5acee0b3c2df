#include "embedding/architectures/rotary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/json/read.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::Result;
using core::Status;
using graph::Rotary;
using std::filesystem::path;

namespace {

constexpr double kRotaryBaseMax = 1e9;
// The limit of factors and turns. Published ones are an order of magnitude below.
constexpr double kRopeFactorMax = 1e4;
constexpr std::array<std::string_view, 6> kRopeTypes{"default", "dynamic", "linear", "llama3", "ntk", "yarn"};

const char* type_key_of(const Json& parameters) {
  return parameters.contains("rope_type") ? "rope_type" : "type";
}

// An object with a rope type and its parameters.
class RopeParameters {
 public:
  RopeParameters(const Json& object, const path& file, const std::string& name, const RotaryHeads& heads)
      : object_(object), file_(file), name_(name), heads_(heads) {}

  [[nodiscard]] Result<Rotary> read(double base) const;

 private:
  [[nodiscard]] Status wrong(const std::string& what) const {
    return unsupported_file(file_, fmt::format("'{}' has {}", name_, what));
  }
  // Null counts as missing.
  [[nodiscard]] Result<std::optional<double>> number(const char* key, double least, double most) const;
  [[nodiscard]] Result<double> required(const char* key, double least, double most) const;
  // Rejects other keys than these and the common ones, since they would change the angles in an unknown way.
  [[nodiscard]] Status allow(std::string_view type, std::initializer_list<std::string_view> keys) const;
  [[nodiscard]] Result<double> original_positions() const;

  [[nodiscard]] Status scale_linearly(Rotary& rotary) const;
  [[nodiscard]] Status scale_by_ntk(Rotary& rotary, double base) const;
  [[nodiscard]] Status scale_as_llama3(Rotary& rotary) const;
  [[nodiscard]] Status scale_by_yarn(Rotary& rotary, double base) const;

  const Json& object_;
  const path& file_;
  const std::string& name_;
  const RotaryHeads& heads_;
};

Result<std::optional<double>> RopeParameters::number(const char* key, double least, double most) const {
  const auto* const found = core::find_member(object_, key);
  if (found == nullptr) return std::optional<double>();
  const double value = found->is_number() ? found->get<double>() : least - 1;
  if (value >= least && value <= most) return std::optional(value);
  return invalid_file(file_, fmt::format("'{}' has '{}' {}; it must be a number from {} to {}", name_, key,
                                         core::printable_json(*found), least, most));
}

Result<double> RopeParameters::required(const char* key, double least, double most) const {
  LB_ASSIGN_OR_RETURN(const auto value, number(key, least, most));
  if (!value) return invalid_file(file_, fmt::format("'{}' has no '{}'", name_, key));
  return *value;
}

Status RopeParameters::allow(std::string_view type, std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : object_.members()) {
    // All columns of a head are rotated, as in all supported networks.
    const bool says_nothing = value.is_null() || (key == "partial_rotary_factor" && value == 1.0);
    const bool is_known = key == "rope_type" || key == "type" || key == "rope_theta" || says_nothing ||
                          std::ranges::find(keys, std::string_view(key)) != keys.end();
    if (is_known) continue;
    std::vector<std::string_view> known{"rope_theta"};
    known.insert(known.end(), keys.begin(), keys.end());
    return wrong(fmt::format("'{}' {}, which is not supported with the type {}{}", printable(key),
                             core::printable_json(value), type, core::supported_instead(key, known)));
  }
  return {};
}

Result<double> RopeParameters::original_positions() const {
  LB_ASSIGN_OR_RETURN(const auto given, number("original_max_position_embeddings", 1, static_cast<double>(kTokensMax)));
  return given.value_or(static_cast<double>(heads_.positions));
}

Status RopeParameters::scale_linearly(Rotary& rotary) const {
  LB_RETURN_IF_ERROR(allow("linear", {"factor"}));
  LB_ASSIGN_OR_RETURN(const double factor, required("factor", 1, kRopeFactorMax));
  for (float& frequency : rotary.frequencies)
    frequency /= static_cast<float>(factor);
  return {};
}

// As in the code published with GTE and in text-embeddings-inference.
Status RopeParameters::scale_by_ntk(Rotary& rotary, double base) const {
  LB_RETURN_IF_ERROR(allow("ntk", {"factor"}));
  LB_ASSIGN_OR_RETURN(const double factor, required("factor", 1, kRopeFactorMax));
  rotary.frequencies = graph::rotary_frequencies(base * factor, static_cast<std::int64_t>(heads_.width));
  const double all = std::pow(factor, 2.0 / static_cast<double>(heads_.width));
  for (float& frequency : rotary.frequencies)
    frequency /= static_cast<float>(all);
  return {};
}

Status RopeParameters::scale_as_llama3(Rotary& rotary) const {
  LB_RETURN_IF_ERROR(
      allow("llama3", {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"}));
  LB_ASSIGN_OR_RETURN(const double factor, required("factor", 1, kRopeFactorMax));
  LB_ASSIGN_OR_RETURN(const double low, required("low_freq_factor", 1e-3, kRopeFactorMax));
  LB_ASSIGN_OR_RETURN(const double high, required("high_freq_factor", 1e-3, kRopeFactorMax));
  LB_ASSIGN_OR_RETURN(const double original, original_positions());
  if (!(low < high)) return wrong("a 'low_freq_factor' that is not below 'high_freq_factor'");
  const auto positions = static_cast<float>(original);
  for (float& frequency : rotary.frequencies) {
    const float length = static_cast<float>(2 * std::numbers::pi) / frequency;  // in positions
    if (length < static_cast<float>(original / high)) continue;
    const float near = frequency / static_cast<float>(factor);
    if (length > static_cast<float>(original / low)) {
      frequency = near;
      continue;
    }
    const float far = (positions / length - static_cast<float>(low)) / static_cast<float>(high - low);
    frequency = (1 - far) * near + far * frequency;
  }
  return {};
}

// Source: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models" (2023).
Status RopeParameters::scale_by_yarn(Rotary& rotary, double base) const {
  LB_RETURN_IF_ERROR(allow("yarn", {"factor", "original_max_position_embeddings", "attention_factor", "beta_fast",
                                    "beta_slow", "mscale", "mscale_all_dim", "truncate"}));
  LB_RETURN_IF_ERROR(expect(object_, file_, "truncate", true));
  LB_ASSIGN_OR_RETURN(const double original, original_positions());
  LB_ASSIGN_OR_RETURN(const auto given, number("factor", 1, kRopeFactorMax));
  const double factor = given.value_or(static_cast<double>(heads_.positions) / original);
  LB_ASSIGN_OR_RETURN(const auto attention_factor, number("attention_factor", 0, kRopeFactorMax));
  LB_ASSIGN_OR_RETURN(const auto mscale, number("mscale", 0, kRopeFactorMax));
  LB_ASSIGN_OR_RETURN(const auto mscale_all, number("mscale_all_dim", 0, kRopeFactorMax));
  LB_ASSIGN_OR_RETURN(const auto fast, number("beta_fast", 0, kRopeFactorMax));
  LB_ASSIGN_OR_RETURN(const auto slow, number("beta_slow", 0, kRopeFactorMax));
  // 0 counts as missing.
  const auto or_else = [](const std::optional<double>& value, double otherwise) {
    return value.value_or(0) == 0 ? otherwise : *value;
  };

  const auto magnitude = [factor](double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; };
  const bool has_both = mscale.value_or(0) != 0 && mscale_all.value_or(0) != 0;
  rotary.factor = static_cast<float>(attention_factor ? *attention_factor
                                     : has_both       ? magnitude(*mscale) / magnitude(*mscale_all)
                                                      : magnitude(1));

  // The pair of columns that makes this many turns over all positions of the training.
  const auto width = static_cast<double>(heads_.width);
  const auto pair_of = [&](double turns) {
    return width * std::log(original / (turns * 2 * std::numbers::pi)) / (2 * std::log(base));
  };
  const double first = std::max(std::floor(pair_of(or_else(fast, 32))), 0.0);
  double last = std::min(std::ceil(pair_of(or_else(slow, 1))), width - 1);
  if (first == last) last += 0.001;
  for (std::size_t i = 0; i < rotary.frequencies.size(); ++i) {
    float& frequency = rotary.frequencies[i];
    const float ramp = (static_cast<float>(i) - static_cast<float>(first)) / static_cast<float>(last - first);
    const float kept = 1 - std::clamp(ramp, 0.0F, 1.0F);
    frequency = frequency / static_cast<float>(factor) * (1 - kept) + frequency * kept;
  }
  return {};
}

Result<double> check_rotary_base(double base, const path& file, const std::string& what) {
  if (base >= 1 && base <= kRotaryBaseMax) return base;
  return invalid_file(file, fmt::format("{} {}; it must be between 1 and {}", what, base, kRotaryBaseMax));
}

Result<Rotary> RopeParameters::read(double base) const {
  if (!object_.is_object()) return invalid_file(file_, fmt::format("'{}' is not an object", name_));
  const auto* const theta = core::find_member(object_, "rope_theta");
  if (theta != nullptr) {
    if (!theta->is_number())
      return invalid_file(file_, fmt::format("'{}' has a 'rope_theta' that is not a number", name_));
    LB_ASSIGN_OR_RETURN(
        base, check_rotary_base(theta->get<double>(), file_, fmt::format("'{}' has a 'rope_theta' of", name_)));
  }
  LB_ASSIGN_OR_RETURN(const std::string type,
                      core::read_text(object_, type_key_of(object_), "default", platform::path_to_utf8(file_)));
  LB_ASSIGN_OR_RETURN(Rotary rotary, plain_rotary(file_, heads_, base));
  Status status;
  if (type == "default") {
    status = allow(type, {});
  } else if (type == "dynamic") {
    // The type only changes angles beyond `max_position_embeddings`, which no text reaches.
    status = allow(type, {"factor"});
  } else if (type == "linear") {
    status = scale_linearly(rotary);
  } else if (type == "ntk") {
    status = scale_by_ntk(rotary, base);
  } else if (type == "llama3") {
    status = scale_as_llama3(rotary);
  } else if (type == "yarn") {
    status = scale_by_yarn(rotary, base);
  } else if (type == "longrope") {
    return wrong(
        fmt::format("the type 'longrope', which makes a text's angles depend on the longest text of its batch{}",
                    core::supported_instead({}, kRopeTypes)));
  } else {
    return wrong(fmt::format("the type '{}'{}", printable(type), core::supported_instead(type, kRopeTypes)));
  }
  if (!status.ok()) return status;
  return rotary;
}

}  // namespace

RotaryHeads rotary_heads_of(const EncoderSizes& sizes) {
  return {.width = sizes.head_width != 0 ? sizes.head_width : sizes.hidden / sizes.heads, .positions = sizes.positions};
}

Result<double> read_rotary_base(const Json& config, const char* key, double otherwise, const path& file) {
  const auto given = config.find(key);
  if (given == nullptr) return otherwise;
  if (!given->is_number())
    return invalid_file(file, fmt::format("'{}' is {}; it must be a number", key, core::printable_json(*given)));
  return check_rotary_base(given->get<double>(), file, fmt::format("'{}' is", key));
}

Result<Rotary> plain_rotary(const path& file, const RotaryHeads& heads, double base) {
  if (heads.width % 2 != 0)
    return invalid_file(file, fmt::format("heads are {} wide, but rotary positions need an even number", heads.width));
  return Rotary{.frequencies = graph::rotary_frequencies(base, static_cast<std::int64_t>(heads.width)),
                .positions = static_cast<std::int64_t>(heads.positions)};
}

Result<Rotary> read_rope_parameters(const Json& parameters, const path& file, const std::string& name,
                                    const RotaryHeads& heads, double base) {
  return RopeParameters(parameters, file, name, heads).read(base);
}

Result<Rotary> read_rotary(const Json& config, const path& file, const RotaryHeads& heads, double base) {
  LB_RETURN_IF_ERROR(expect(config, file, "partial_rotary_factor", 1.0));
  LB_ASSIGN_OR_RETURN(base, read_rotary_base(config, "rope_theta", base, file));
  // The older key takes precedence if it is set.
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto* const found = core::find_member(config, key);
    if (found == nullptr || *found == Json::object()) continue;
    Json parameters = *found;
    const auto original = config.find("original_max_position_embeddings");
    if (original != nullptr && parameters.is_object()) {
      const Json type = parameters.value(type_key_of(parameters), Json());
      if (type == "llama3" || type == "yarn") parameters["original_max_position_embeddings"] = *original;
    }
    return read_rope_parameters(parameters, file, key, heads, base);
  }
  return plain_rotary(file, heads, base);
}

}  // namespace latebind::embedding
