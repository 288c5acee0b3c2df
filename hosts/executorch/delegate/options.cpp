#include "hosts/executorch/delegate/options.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <utility>
#include <variant>

namespace latebind::delegate {
namespace {

namespace et = ::executorch::runtime;

constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kShapesMax = 64;
constexpr std::size_t kQuotedMax = 64;

std::string quoted(std::string_view text) {
  std::string quote = "'" + std::string(text.substr(0, kQuotedMax)) + "'";
  std::ranges::replace_if(
      quote, [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  return quote;
}

// Levenshtein's distance, by rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Programs made for the stock backend name devices as OpenVINO does: "CPU", "GPU.1".
std::string device_word(std::string_view word) {
  const auto dot = word.find('.');
  const std::string_view base = word.substr(0, dot);
  for (const std::string_view kind : {"CPU", "GPU", "NPU", "AUTO"}) {
    if (base != kind) continue;
    if (dot != std::string_view::npos) return "openvino:" + std::string(word);
    std::string plain(word);
    std::ranges::transform(plain, plain.begin(), lower);
    return plain;
  }
  return std::string(word);
}

std::string device_text(std::string_view text) {
  std::string words;
  for (;;) {
    const auto comma = text.find(',');
    words += device_word(text.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    words += ',';
    text.remove_prefix(comma + 1);
  }
}

std::optional<int> strict_word(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return 1;
  if (text == "false" || text == "0" || text == "no" || text == "off") return -1;
  return std::nullopt;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1x128", "-" for rank 0.
std::optional<lb_shape> parse_shape(std::string_view text) {
  lb_shape shape{};
  if (text == "-") return shape;
  for (;;) {
    const auto cross = text.find('x');
    const auto dim = number<std::int64_t>(text.substr(0, cross));
    constexpr std::int64_t kDimMax = std::int64_t{1} << 31;
    if (!dim || *dim < 0 || *dim >= kDimMax || shape.rank == LB_RANK_MAX) return std::nullopt;
    shape.dims[shape.rank++] = *dim;
    if (cross == std::string_view::npos) return shape;
    text.remove_prefix(cross + 1);
  }
}

std::optional<std::vector<lb_shape>> parse_shapes(std::string_view text) {
  std::vector<lb_shape> shapes;
  for (;;) {
    const auto comma = text.find(',');
    const auto shape = parse_shape(text.substr(0, comma));
    if (!shape || shapes.size() == kShapesMax) return std::nullopt;
    shapes.push_back(*shape);
    if (comma == std::string_view::npos) return shapes;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::size_t> index_of(std::string_view key) {
  const auto found = std::ranges::find(kLoadKeys, key);
  if (found == kLoadKeys.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLoadKeys.begin());
}

}  // namespace

std::string unknown_key(std::string_view what, std::string_view key, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t least = 3;  // more is no slip of the fingers
  for (const std::string_view one : known) {
    const std::size_t distance = edit_distance(key.substr(0, kQuotedMax), one);
    if (distance >= least) continue;
    least = distance;
    nearest = one;
  }
  std::string text = "unknown " + std::string(what) + " " + quoted(key);
  if (!nearest.empty()) text += " (did you mean " + std::string(nearest) + "?)";
  text += "; known: ";
  for (std::size_t i = 0; i < known.size(); ++i)
    text += (i > 0 ? ", " : "") + std::string(known[i]);
  return text;
}

std::string_view text_in(std::span<const char> buffer) {
  const auto end = std::ranges::find(buffer, '\0');
  return {buffer.data(), static_cast<std::size_t>(end - buffer.begin())};
}

OptionError LoadOptions::set_text(std::string_view key, std::string_view value) {
  const auto place = index_of(key);
  if (!place) return unknown_key("option", key, kLoadKeys);
  while (value.ends_with('\0'))
    value.remove_suffix(1);
  const std::string named = "option " + std::string(key);
  if (value.size() > kTextMax) {
    return named + " has " + std::to_string(value.size()) + " bytes; " + std::to_string(kTextMax) + " are the most";
  }
  if (std::ranges::any_of(value, [](unsigned char c) { return c < ' '; })) {
    return named + " is no text: " + quoted(value);
  }
  std::string text(value);
  if (place == kDevice) {
    text = device_text(value);
  } else if (place == kStrict) {
    const auto word = value.empty() ? std::optional<int>(0) : strict_word(value);
    if (!word) return named + " must be true or false, not " + quoted(value);
    strict_word_ = *word;
  } else if (place == kThreads) {
    const auto count = value.empty() ? std::optional<unsigned>(0) : number<unsigned>(value);
    if (!count || *count > kLoadThreadsMax) {
      return named + " must be a number up to " + std::to_string(kLoadThreadsMax) + ", not " + quoted(value);
    }
    thread_count_ = *count;
  } else if (place == kShapes) {
    auto shapes = value.empty() ? std::optional(std::vector<lb_shape>()) : parse_shapes(value);
    if (!shapes) return named + " must be one shape for each input, such as 1x128,1x128, not " + quoted(value);
    input_shapes_ = *std::move(shapes);
  }
  texts_[*place] = std::move(text);
  return std::nullopt;
}

OptionError LoadOptions::set(const et::BackendOption& option) {
  const std::string_view key = text_in(option.key);
  if (const auto* text = std::get_if<std::array<char, et::kMaxOptionValueLength>>(&option.value)) {
    return set_text(key, text_in(*text));
  }
  const auto place = index_of(key);
  if (!place) return unknown_key("option", key, kLoadKeys);
  if (const bool* truth = std::get_if<bool>(&option.value); truth != nullptr && place == kStrict) {
    return set_text(key, *truth ? "true" : "false");
  }
  if (const int* count = std::get_if<int>(&option.value); count != nullptr && place == kThreads) {
    return set_text(key, std::to_string(*count));
  }
  return "option " + std::string(key) + " must be " +
         (place == kStrict ? "a bool" : (place == kThreads ? "an int" : "a string")) + ", not " +
         (std::holds_alternative<bool>(option.value) ? "a bool" : "an int");
}

void LoadOptions::apply(const LoadOptions& other) {
  for (std::size_t i = 0; i < kLoadKeys.size(); ++i) {
    if (!other.texts_[i].empty()) (void)set_text(kLoadKeys[i], other.texts_[i]);
  }
}

std::string LoadOptions::text(std::string_view key) const {
  const auto place = index_of(key);
  return place ? texts_[*place] : std::string();
}

lb_load_options LoadOptions::to_c() const {
  const auto given = [&](LoadKey key) { return texts_[key].empty() ? nullptr : texts_[key].c_str(); };
  auto options = LB_INIT(lb_load_options);
  options.device = given(kDevice);
  options.precision = given(kPrecision);
  options.strict = strict_word_;
  options.threads = thread_count_;
  options.input_shape_count = input_shapes_.size();
  options.input_shapes = input_shapes_.data();
  options.config_file = given(kConfig);
  return options;
}

}  // namespace latebind::delegate
