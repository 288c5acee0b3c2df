#include "kit/networks/case_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace latebind::kit {
namespace {

constexpr std::array kWeightTypes{core::ElementType::kF32, core::ElementType::kF32, core::ElementType::kF16,
                                  core::ElementType::kBF16};
// Of the numbers of inputs; most cases have those of ordinary activations.
constexpr std::array kSizes{2.0, 2.0, 2.0, 2.0, 2.0, 50.0, 0.001, 0.0};

template <class T, std::size_t kCount>
T any_of(std::mt19937& chance, const std::array<T, kCount>& all) {
  return all[std::uniform_int_distribution<std::size_t>(0, kCount - 1)(chance)];
}

}  // namespace

CaseBuilder::CaseBuilder(std::mt19937& chance, const CaseOptions& options)
    : chance_(chance),
      options_(options),
      type_(any_of(chance, kWeightTypes)),
      size_(any_of(chance, kSizes)),
      texts_(up_to(4)),
      tokens_(one_in(4) ? up_to(70) : up_to(12)) {}

std::int64_t CaseBuilder::up_to(std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(1, most)(chance_);
}

std::int64_t CaseBuilder::width() {
  constexpr std::int64_t kLarge = 200;
  if (one_in(8)) return 1;
  if (one_in(4)) return std::max<std::int64_t>(1, (std::int64_t{1} << up_to(7)) + up_to(3) - 2);
  return one_in(8) ? up_to(kLarge) : up_to(24);
}

void CaseBuilder::plan_x(std::int64_t columns) {
  columns_ = columns;
  if (!has_numbers()) table_ = weight("table", {kVocabulary, columns});
}

graph::Weight CaseBuilder::weight(std::string name, const core::Shape& shape) {
  say(fmt::format(", {} {} {}", name, core::name_of(type_), shape.to_string()));
  return weights_.add(std::move(name), type_, shape);
}

std::optional<graph::Weight> CaseBuilder::maybe_weight(std::string name, const core::Shape& shape) {
  return one_in(2) ? std::optional(weight(std::move(name), shape)) : std::nullopt;
}

void CaseBuilder::begin() {
  graph_.emplace(weights_.part());
}

graph::Value CaseBuilder::x() {
  if (!x_ && has_numbers()) x_ = numbers("x", {texts_, tokens_, columns_}, 2);
  if (!x_) x_ = add(graph::Lookup{table_, ids(kVocabulary)});
  return *x_;
}

graph::Value CaseBuilder::another(const char* name, std::int64_t columns) {
  if (has_numbers()) return numbers(name, {texts_, tokens_, columns}, 2);
  return columns == columns_ ? x() : add(graph::Columns{.x = x(), .width = columns_, .first = 0, .count = columns});
}

graph::Value CaseBuilder::numbers(const char* name, const Dims& dims, std::size_t first) {
  Array& array = inputs_[name];
  array.shape = dims;
  array.values.resize(to_size(count_of(dims)));
  for (double& value : array.values)
    value = number();
  const core::Shape shape = declared(dims, first);
  say(fmt::format(", {} {}", name, core::Shape::make(dims)->to_string()));
  return add(graph::Input{.name = name, .type = core::ElementType::kF32, .shape = shape});
}

graph::Value CaseBuilder::ids(std::int64_t vocabulary) {
  if (ids_) return *ids_;
  Array& array = inputs_["ids"];
  array.shape = {texts_, tokens_};
  for (std::int64_t i = 0; i < texts_ * tokens_; ++i)
    array.values.push_back(static_cast<double>(up_to(vocabulary) - 1));
  say(fmt::format(", ids [{},{}]", texts_, tokens_));
  ids_ = add(graph::Input{.name = "ids", .type = core::ElementType::kI64, .shape = declared(array.shape, 2)});
  return *ids_;
}

graph::Value CaseBuilder::mask(bool may_be_unattended) {
  if (mask_) return *mask_;
  Array& array = inputs_["mask"];
  array.shape = {texts_, tokens_};
  say(", lengths");
  for (std::int64_t text = 0; text < texts_; ++text) {
    const std::int64_t length = one_in(3) ? tokens_ : up_to(tokens_);
    const std::int64_t attended = may_be_unattended ? up_to(length) : length;
    say(attended == length ? fmt::format(" {}", length) : fmt::format(" {}/{}", attended, length));
    for (std::int64_t t = 0; t < tokens_; ++t)
      array.values.push_back(t < attended ? 1 : t < length ? static_cast<double>(graph::kUnattended) : 0);
  }
  mask_ = add(graph::Input{.name = "mask", .type = core::ElementType::kI64, .shape = declared(array.shape, 2)});
  return *mask_;
}

core::Result<GraphCase> CaseBuilder::finish(graph::Value output) && {
  if (!text_.starts_with(", ")) text_ = ", " + text_;
  LB_ASSIGN_OR_RETURN(graph::Graph made, std::move(*graph_).finish(output, "y"));
  return GraphCase{std::move(made), std::move(inputs_), text_.substr(2)};
}

core::Shape CaseBuilder::declared(const Dims& dims, std::size_t dynamic) const {
  core::Shape shape = *core::Shape::make(dims);
  for (std::size_t i = 0; i < dynamic && !options_.is_static; ++i)
    shape[i] = core::kDynamic;
  return shape;
}

// Rounded to f32, so that the reference computes from the same number as the device.
double CaseBuilder::number() {
  if (size_ == 0) return 0;
  return static_cast<double>(static_cast<float>(std::uniform_real_distribution<double>(-size_, size_)(chance_)));
}

}  // namespace latebind::kit
