#include "cli/data/json_field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/json/value.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using core::Json;

// Follows the parser's events and keeps the requested string. Returning false stops the parser.
class FieldFinder final : public Json::json_sax_t {
 public:
  // `keeps_names`: take() names the fields that the object has, if the requested one is missing.
  FieldFinder(std::string_view field, std::string_view id_field, bool keeps_names = false)
      : field_(field), id_field_(id_field), keeps_names_(keeps_names) {}

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("a boolean"); }
  bool number_integer(number_integer_t number) override {
    if (id_is_next_) id_ = fmt::format("{}", number);
    return other("a number");
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (id_is_next_) id_ = fmt::format("{}", number);
    return other("a number");
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (id_is_next_) id_ = text;
    return other("a number");
  }
  bool binary(binary_t&) override { return other("binary"); }
  bool string(string_t& value) override {
    if (id_is_next_) id_ = Json(value).dump();
    id_is_next_ = false;
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
    id_is_next_ = depth_ == 1 && !id_field_.empty() && value == id_field_;
    if (id_is_next_) id_.clear();
    if (keeps_names_ && depth_ == 1 && names_.size() < kNamesShown)
      names_.push_back(core::quoted(value, kNameBytesShown));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    constexpr int kNumberOutOfRange = 406;
    met_large_number_ = error.id == kNumberOutOfRange;
    error_position_ = position;
    return false;
  }

  // Whether the line is an object without the requested field.
  [[nodiscard]] bool lacks_field() const {
    return !error_position_ && top_kind_.empty() && wrong_kind_.empty() && !found_;
  }
  // Whether parsing stopped at a number that is valid JSON but too large for a double.
  [[nodiscard]] bool met_large_number() const { return met_large_number_; }

  Result<TextField> take() && {
    if (error_position_) {
      return Status(StatusCode::kInvalidArgument, fmt::format("invalid JSON at byte {}", *error_position_));
    }
    if (!top_kind_.empty()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("expected a JSON object, not {}", top_kind_));
    }
    if (!wrong_kind_.empty()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("field '{}' is {}, not a string", field_, wrong_kind_));
    }
    if (!found_) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the object has no field '{}'{}; --text-field names the field of the text", field_,
                                names_.empty() ? "" : fmt::format(" among {}", fmt::join(names_, ", "))));
    }
    return TextField{.text = *std::move(found_), .id = std::move(id_)};
  }

 private:
  bool other(std::string_view kind) {
    id_is_next_ = false;
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

  static constexpr std::size_t kNamesShown = 8;
  static constexpr std::size_t kNameBytesShown = 64;

  std::string_view field_;
  std::string_view id_field_;
  bool id_is_next_ = false;
  std::string id_;
  std::size_t depth_ = 0;
  bool wanted_ = false;
  std::optional<std::string> found_;
  bool keeps_names_ = false;
  std::vector<std::string> names_;
  std::string_view wrong_kind_;
  std::string_view top_kind_;
  std::optional<std::size_t> error_position_;
  bool met_large_number_ = false;
};

// Returns the length of the JSON number that begins at `at`, or 0 if no number begins there.
std::size_t number_size(std::string_view text, std::size_t at) {
  std::size_t end = at;
  const auto skip = [&](std::string_view any_of) {
    const bool found = end < text.size() && any_of.find(text[end]) != std::string_view::npos;
    end += found ? 1 : 0;
    return found;
  };
  const auto skip_digits = [&] {
    const std::size_t begin = end;
    while (end < text.size() && core::is_ascii_digit(text[end]))
      ++end;
    return end > begin;
  };
  skip("-");
  if (!skip("0") && !skip_digits()) return 0;
  if (skip(".") && !skip_digits()) return 0;
  if (skip("eE")) {
    skip("+-");
    if (!skip_digits()) return 0;
  }
  return end - at;
}

// Replaces every number with 0 and keeps the positions. The requested field is never a number.
std::string without_numbers(std::string_view line) {
  std::string text(line);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string && c == '\\') {
      ++i;
    } else if (!in_string && (c == '-' || core::is_ascii_digit(c))) {
      const std::size_t size = number_size(text, i);
      if (size == 0) continue;
      text.replace(i, size, size, ' ');
      text[i] = '0';
      i += size - 1;
    }
  }
  return text;
}

}  // namespace

Result<TextField> text_field(std::string_view line, std::string_view field, std::string_view id_field) {
  if (const auto at = core::find_zero_byte(line)) {
    return Status(StatusCode::kInvalidArgument, fmt::format("invalid JSON at byte {}: a zero byte", *at + 1));
  }
  FieldFinder finder(field, id_field);
  // False also if the finder found a mistake, which take() returns.
  (void)Json::sax_parse(line, &finder);
  if (finder.met_large_number()) {
    // The numbers have changed, so an id among them would be wrong.
    const std::string changed = without_numbers(line);
    FieldFinder again(field, {}, /*keeps_names=*/true);
    (void)Json::sax_parse(changed, &again);
    return std::move(again).take();
  }
  if (finder.lacks_field()) {
    FieldFinder telling(field, {}, /*keeps_names=*/true);
    (void)Json::sax_parse(line, &telling);
    return std::move(telling).take();
  }
  return std::move(finder).take();
}

}  // namespace latebind::cli
