#include "app/shape_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "core/config.h"

namespace latebind::app {

using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

Result<Shape> parse_dims(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most) {
  const std::string what = fmt::format("{}: a dimension", option);
  std::vector<std::int64_t> dims;
  for (std::string_view rest = text;;) {
    const auto cross = rest.find('x');
    LB_ASSIGN_OR_RETURN(const std::int64_t dim, core::parse_integer(what, rest.substr(0, cross), least, most));
    dims.push_back(dim);
    if (cross == std::string_view::npos) return Shape::make(dims);
    rest.remove_prefix(cross + 1);
  }
}

Result<Shape> parse_shape(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most) {
  return text == "scalar" ? Shape{} : parse_dims(option, text, least, most);
}

std::string shape_text(const Shape& shape) {
  return shape.rank() == 0 ? "scalar" : fmt::format("{}", fmt::join(shape.dims(), "x"));
}

Result<std::map<std::size_t, std::string>> match_by_name(std::span<const TensorInfo> declared, std::string_view what,
                                                         std::string_view option,
                                                         const std::vector<std::string>& given) {
  std::map<std::size_t, std::string> matched;
  for (const std::string& one : given) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const std::string& name = declared[i].name;
      if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=' &&
          (!best || name.size() > declared[*best].name.size())) {
        best = i;
      }
    }
    if (!best) {
      std::vector<std::string_view> known;
      for (const TensorInfo& info : declared)
        known.push_back(info.name);
      const auto name = std::string_view(one).substr(0, one.find('='));
      return core::unknown_word_error(what, name, known).with_context(option);
    }
    const bool is_new = matched.emplace(*best, one.substr(declared[*best].name.size() + 1)).second;
    if (!is_new) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: {} '{}' is given twice", option, what, declared[*best].name));
    }
  }
  return matched;
}

}  // namespace latebind::app
