#include "cli/data/json_field.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "core/json.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;

// Follows the parser's events and keeps the one requested string. Returning false stops the parser.
class FieldFinder final : public json::json_sax_t {
 public:
  explicit FieldFinder(std::string_view field) : field_(field) {}

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("a boolean"); }
  bool number_integer(number_integer_t) override { return other("a number"); }
  bool number_unsigned(number_unsigned_t) override { return other("a number"); }
  bool number_float(number_float_t, const string_t&) override { return other("a number"); }
  bool binary(binary_t&) override { return other("binary"); }
  bool string(string_t& value) override {
    if (!wanted_) return other("a string");
    found_ = std::move(value);
    wrong_kind_ = {};
    wanted_ = false;
    return true;
  }
  bool start_object(std::size_t) override {
    const bool go_on = depth_ == 0 || other("an object");
    ++depth_;
    return go_on;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    const bool go_on = other("an array");
    ++depth_;
    return go_on;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& value) override {
    wanted_ = depth_ == 1 && value == field_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    error_position_ = position;
    return false;
  }

  Result<std::string> take() && {
    if (error_position_) {
      return Status(StatusCode::kInvalidArgument, fmt::format("no valid JSON at byte {}", *error_position_));
    }
    if (!top_kind_.empty()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("a JSON object is expected, not {}", top_kind_));
    }
    if (!wrong_kind_.empty()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("field '{}' is {}, not a string", field_, wrong_kind_));
    }
    if (!found_) {
      return Status(StatusCode::kInvalidArgument, fmt::format("the object has no field '{}'", field_));
    }
    return *std::move(found_);
  }

 private:
  bool other(std::string_view kind) {
    if (depth_ == 0) {
      top_kind_ = kind;
      return false;
    }
    if (wanted_) {
      wrong_kind_ = kind;
      wanted_ = false;
    }
    return true;
  }

  std::string_view field_;
  std::size_t depth_ = 0;
  bool wanted_ = false;
  std::optional<std::string> found_;
  std::string_view wrong_kind_;
  std::string_view top_kind_;
  std::optional<std::size_t> error_position_;
};

}  // namespace

Result<std::string> string_field(std::string_view line, std::string_view field) {
  FieldFinder finder(field);
  // False whenever the finder knows what is wrong, which take() tells.
  (void)json::sax_parse(line, &finder);
  return std::move(finder).take();
}

}  // namespace latebind::cli
