#include "embedding/folder/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/text/name_character.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"
#include "embedding/weights/gguf/header.h"
#include "embedding/weights/gguf/values.h"

namespace latebind::embedding {
namespace {

constexpr std::uint32_t kVersionMax = 3;
// Longer texts are skipped.
constexpr std::size_t kOriginBytesMax = 1024;
// The format allows nested arrays, but no known writer uses them.
constexpr unsigned kArraysDeepMax = 4;

// The keys that declare the origin of a file, best first.
constexpr std::array<std::string_view, 5> kOriginKeys{"general.source.huggingface.repository",
                                                      "general.source.repo_url", "general.base_model.0.repo_url",
                                                      "general.source.url", "general.base_model.0.url"};

// Reads little-endian data, as nearly all files are. In other files, lengths exceed the rest of the file. GgufHeader
// refuses damaged files and the first version; this reader takes what they have.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  // If bytes are missing, the following functions return std::nullopt or false.
  template <class Number>
  std::optional<Number> number() {
    if (rest_.size() < sizeof(Number)) return std::nullopt;
    const auto value = gguf_number_at<Number>(rest_.data());
    rest_ = rest_.subspan(sizeof(Number));
    return value;
  }
  // Reads a count of texts, values or bytes, which is shorter in the first version.
  std::optional<std::uint64_t> count() {
    if (is_first_version_) return number<std::uint32_t>();
    return number<std::uint64_t>();
  }
  std::optional<std::string_view> text() {
    const auto size = count();
    if (!size || *size > rest_.size()) return std::nullopt;
    const std::string_view found(reinterpret_cast<const char*>(rest_.data()), static_cast<std::size_t>(*size));
    rest_ = rest_.subspan(found.size());
    return found;
  }
  bool skip(std::uint32_t type, unsigned depth = 0) {
    if (!is_gguf_value_type(type) || depth > kArraysDeepMax) return false;
    const auto known = static_cast<GgufValueType>(type);
    if (known == GgufValueType::kString) return text().has_value();
    if (known == GgufValueType::kArray) return skip_array(depth);
    return skip_bytes(1, bytes_of_gguf_value(known));
  }
  void be_first_version() { is_first_version_ = true; }

 private:
  bool skip_bytes(std::uint64_t times, std::size_t bytes) {
    if (times > rest_.size() / bytes) return false;
    rest_ = rest_.subspan(static_cast<std::size_t>(times) * bytes);
    return true;
  }
  bool skip_array(unsigned depth) {
    const auto type = number<std::uint32_t>();
    const auto size = count();
    if (!type || !size || !is_gguf_value_type(*type)) return false;
    if (const std::size_t bytes = bytes_of_gguf_value(static_cast<GgufValueType>(*type)); bytes > 0)
      return skip_bytes(*size, bytes);
    // Each element takes bytes, so the loop ends with the bytes.
    for (std::uint64_t i = 0; i < *size; ++i) {
      if (!skip(*type, depth + 1)) return false;
    }
    return true;
  }

  std::span<const std::byte> rest_;
  bool is_first_version_ = false;
};

bool is_name_part(std::string_view part) {
  return !part.empty() && std::ranges::all_of(part, core::is_name_character);
}

// Returns "org/name" for an address on the hub; other addresses, and such names, unchanged.
std::string repository_of(std::string_view address) {
  std::string_view rest = address;
  for (const std::string_view prefix : {"https://", "http://"}) {
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  }
  constexpr std::string_view kHub = "huggingface.co/";
  if (!rest.starts_with(kHub)) return std::string(address);
  rest.remove_prefix(kHub.size());
  const std::size_t first = rest.find('/');
  if (first == std::string_view::npos) return std::string(address);
  const std::string_view name = rest.substr(first + 1, rest.find_first_of("/?#", first + 1) - first - 1);
  if (!is_name_part(rest.substr(0, first)) || !is_name_part(name)) return std::string(address);
  return std::string(rest.substr(0, first + 1 + name.size()));
}

bool is_hub_name(std::string_view text) {
  const std::size_t between = text.find('/');
  return between != std::string_view::npos && is_name_part(text.substr(0, between)) &&
         is_name_part(text.substr(between + 1));
}

// Returns the key's position in kOriginKeys, or their number for any other key.
std::size_t rank_of(std::string_view key) {
  return static_cast<std::size_t>(std::ranges::find(kOriginKeys, key) - kOriginKeys.begin());
}

}  // namespace

std::optional<GgufOrigin> read_gguf_origin(std::span<const std::byte> bytes) {
  if (bytes.size() < kGgufMagic.size() || std::memcmp(bytes.data(), kGgufMagic.data(), kGgufMagic.size()) != 0)
    return std::nullopt;
  GgufOrigin origin;
  Reader reader(bytes.subspan(kGgufMagic.size()));
  const auto version = reader.number<std::uint32_t>();
  if (!version || *version == 0 || *version > kVersionMax) return origin;
  if (*version == 1) reader.be_first_version();
  const auto tensors = reader.count();
  const auto values = reader.count();
  if (!tensors || !values) return origin;
  std::size_t best = kOriginKeys.size();
  for (std::uint64_t i = 0; i < *values; ++i) {
    const auto key = reader.text();
    const auto type = reader.number<std::uint32_t>();
    if (!key || !type) break;
    const std::size_t rank = rank_of(*key);
    if (*type != static_cast<std::uint32_t>(GgufValueType::kString)) {
      if (!reader.skip(*type)) break;
      continue;
    }
    const auto text = reader.text();
    if (!text) break;
    if (text->empty() || text->size() > kOriginBytesMax) continue;
    if (*key == "general.name") origin.name = *text;
    if (rank < best) {
      best = rank;
      origin.repository = repository_of(*text);
      origin.is_on_hub = is_hub_name(origin.repository);
      origin.key = *key;
    }
  }
  return origin;
}

std::string say_gguf_origin(const GgufOrigin& origin) {
  std::string where;
  if (origin.is_on_hub) {
    where = fmt::format("its {} names it: latebind pull {}", origin.key, origin.repository);
  } else if (!origin.repository.empty()) {
    where = fmt::format("its {} is {}", origin.key, core::quoted(origin.repository, 200));
  } else {
    where = "look for the repository that it was made from";
    if (!origin.name.empty()) where += fmt::format("; it calls the model {}", core::quoted(origin.name));
  }
  return "; what it was made from may be, with config.json, tokenizer.json and model.safetensors: " + where;
}

core::Status refuse_gguf(const std::filesystem::path& file, const GgufOrigin& origin) {
  return unsupported_file(file, "weights in GGUF are read without the files beside them: give this file as the model" +
                                    say_gguf_origin(origin));
}

}  // namespace latebind::embedding
