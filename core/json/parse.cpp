#include "core/json/parse.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <new>

#include "core/json/fault.h"
#include "core/json/read.h"
#include "core/text/ascii.h"
#include "core/text/git_lfs.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::core {
namespace {

namespace dom = simdjson::dom;

// simdjson chooses its code for the processor on first use, and allocates in functions that must not throw. This makes
// it choose when the program or library is loaded, so that a later allocation that fails is an error.
[[maybe_unused]] const std::string& g_implementation = simdjson::get_active_implementation()->name();

constexpr std::string_view kOfNumbers = "+-.eE0123456789";

// Makes Json of parsed text.
class TreeBuilder {
 public:
  explicit TreeBuilder(const JsonLimits& limits) : limits_(limits) {}

  [[nodiscard]] const std::optional<std::string>& mistake() const { return mistake_; }

  // Whether empty arrays or objects are nested too deeply, whose level the parser does not count.
  [[nodiscard]] bool is_too_deep() const { return is_too_deep_; }

  // The parser has limited the depth.
  Json build(const dom::element& element, std::size_t depth = 0) {
    if (++values_ > limits_.values_max && !mistake_)
      mistake_ = fmt::format("it has more than {} values", limits_.values_max);
    if (mistake_) return {};
    switch (element.type()) {
      case dom::element_type::ARRAY:
        return build_array(element.get_array().value_unsafe(), depth + 1);
      case dom::element_type::OBJECT:
        return build_object(element.get_object().value_unsafe(), depth + 1);
      case dom::element_type::INT64:
        return element.get_int64().value_unsafe();
      case dom::element_type::UINT64:
        return element.get_uint64().value_unsafe();
      case dom::element_type::DOUBLE:
        return element.get_double().value_unsafe();
      case dom::element_type::STRING:
        return element.get_string().value_unsafe();
      case dom::element_type::BOOL:
        return element.get_bool().value_unsafe();
      default:
        return {};
    }
  }

 private:
  Json build_array(const dom::array& array, std::size_t depth) {
    is_too_deep_ |= depth > limits_.depth_max;
    Json json = Json::array();
    json.reserve(array.size());
    for (const dom::element item : array)
      json.push_back(build(item, depth));
    return json;
  }

  Json build_object(const dom::object& object, std::size_t depth) {
    is_too_deep_ |= depth > limits_.depth_max;
    // Keys of objects with more members are sorted, so that an object takes no quadratic time.
    constexpr std::size_t kSearchedMax = 16;
    Json json = Json::object();
    const std::size_t size = object.size();
    json.reserve(size);
    std::map<std::string_view, std::size_t> places;
    for (const dom::key_value_pair field : object) {
      const std::size_t next = json.size();
      Json* repeated = nullptr;
      if (size <= kSearchedMax) {
        repeated = json.find(field.key);
      } else if (const auto [place, is_new] = places.emplace(field.key, next); !is_new) {
        repeated = &json.member_at(place->second);
      }
      if (repeated == nullptr) {
        json.add_member(std::string(field.key), build(field.value, depth));
      } else if (limits_.repeated_keys == RepeatedKeys::kLast) {
        *repeated = build(field.value, depth);
      } else if (limits_.repeated_keys == RepeatedKeys::kRefused && !mistake_) {
        mistake_ = fmt::format("the key {} occurs twice", quoted(field.key));
      }
      if (mistake_) break;
    }
    return json;
  }

  const JsonLimits& limits_;
  std::size_t values_ = 0;
  bool is_too_deep_ = false;
  std::optional<std::string> mistake_;
};

class Parser {
 public:
  explicit Parser(const JsonLimits& limits) : depth_max_(limits.depth_max) {}

  simdjson::error_code parse(std::string_view text, dom::element& root) {
    auto error = parser_.allocate(text.size(), depth_max_ + 1);
    if (error == simdjson::SUCCESS) error = parser_.parse(text.data(), text.size()).get(root);
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    return error;
  }

 private:
  const std::size_t depth_max_;
  dom::parser parser_;
};

// Whether simdjson can represent the well-formed number.
bool is_representable(std::string_view number) {
  constexpr std::size_t kDigitsMax = 18;  // any number with this many characters and no exponent fits
  const char* const end = number.data() + number.size();
  const auto fits = [&](auto value) { return std::from_chars(number.data(), end, value).ec == std::errc(); };
  const bool has_exponent = number.find_first_of("eE") != std::string_view::npos;
  if (number.size() <= kDigitsMax && !has_exponent) return true;
  if (!has_exponent && number.find('.') == std::string_view::npos)
    return number.front() == '-' ? fits(std::int64_t{}) : fits(std::uint64_t{});
  if (fits(double{})) return true;
  // It may be too small, which is no mistake.
  dom::element root;
  return Parser(JsonLimits()).parse(number, root) == simdjson::SUCCESS;
}

// The number as `big_numbers` asks for; std::nullopt if it is refused.
std::optional<std::string> represented(std::string_view number, BigNumbers big_numbers) {
  if (is_representable(number)) return std::string(number);
  if (big_numbers == BigNumbers::kRefused) return std::nullopt;
  const bool is_whole = number.find_first_of(".eE") == std::string_view::npos;
  if (std::string as_double = std::string(number) + ".0"; is_whole && is_representable(as_double)) return as_double;
  return big_numbers == BigNumbers::kAny ? std::optional<std::string>("0") : std::nullopt;
}

// Replaces the numbers that simdjson cannot represent. The text is JSON whose numbers are all accepted.
std::string with_numbers_represented(std::string_view text, BigNumbers big_numbers) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (text[i] == '"') {
      do {
        i += text[i] == '\\' ? 2 : 1;
      } while (text[i] != '"');
      out += text.substr(begin, ++i - begin);
    } else if (text[i] == '-' || is_ascii_digit(text[i])) {
      i = std::min(text.find_first_not_of(kOfNumbers, i), text.size());
      out += represented(text.substr(begin, i - begin), big_numbers).value_or("null");
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> read_json(std::string_view text, const JsonLimits& limits, Json& json) {
  if (text.size() > limits.bytes_max)
    return fmt::format("{} bytes of JSON are above the limit of {}", text.size(), limits.bytes_max);
  Parser parser(limits);
  dom::element root;
  auto error = parser.parse(text, root);
  if (error == simdjson::NUMBER_ERROR && !find_damage(text, limits))
    error = parser.parse(with_numbers_represented(text, limits.big_numbers), root);
  if (error != simdjson::SUCCESS) {
    auto damage = find_damage(text, limits);
    return damage ? damage : fmt::format("not JSON: {}", simdjson::error_message(error));
  }
  TreeBuilder builder(limits);
  json = builder.build(root);
  if (builder.is_too_deep()) return find_damage(text, limits);
  return builder.mistake();
}

std::optional<std::string> find_damage(std::string_view text, const JsonLimits& limits) {
  auto fault = json_fault(text, limits.depth_max, [&limits](std::string_view number) {
    return represented(number, limits.big_numbers).has_value();
  });
  if (fault) fault->insert(0, "not JSON: ");
  return fault;
}

Json json_or_null(std::string_view text) {
  Json json;
  if (read_json(text, {.bytes_max = text.size()}, json)) return {};
  return json;
}

Result<Json> parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  const auto invalid = [name](std::string_view what) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", name, what));
  };
  if (is_git_lfs_pointer(text)) return invalid(kGitLfsPointer);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Json json;
  if (const auto mistake = read_json(text, limits, json)) return invalid(*mistake);
  if (!json.is_structured()) return invalid(fmt::format("expected an object or an array, found {}", kind_of(json)));
  return json;
}

}  // namespace latebind::core
