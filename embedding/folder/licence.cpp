#include "embedding/folder/licence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/text/ascii.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

// Only this many bytes are searched for front matter.
constexpr std::size_t kFrontMatterMax = std::size_t{64} << 10;

// Returns the value of "key: value"; empty for another key.
std::string_view value_in(std::string_view line, std::string_view key) {
  if (!line.starts_with(key) || line.size() == key.size() || line[key.size()] != ':') return {};
  line.remove_prefix(key.size() + 1);
  const auto first = line.find_first_not_of(" \"'");
  const auto last = line.find_last_not_of(" \"'");
  return first == std::string_view::npos ? std::string_view() : line.substr(first, last - first + 1);
}

// Returns whether a word of the name forbids commercial use: "cc-by-nc-4.0", "fair-noncommercial-research-license".
bool forbids_commerce(std::string_view name) {
  std::string word;
  bool was_non = false;
  const auto says_no = [&] {
    const bool is_non_commercial = was_non && word == "commercial";
    was_non = word == "non";
    return word == "nc" || word == "noncommercial" || word == "research" || is_non_commercial;
  };
  for (const char c : name) {
    if (core::is_ascii_letter(c)) {
      word += core::ascii_lower(c);
    } else if (!word.empty()) {
      if (says_no()) return true;
      word.clear();
    }
  }
  return !word.empty() && says_no();
}

}  // namespace

std::string Licence::text() const {
  return forbids_commerce ? name + ", which forbids commercial use" : name;
}

core::Json Licence::describe() const {
  if (name.empty()) return {};
  return {{"name", name}, {"forbids_commerce", forbids_commerce}};
}

Licence licence_of_card(std::string_view card) {
  card = card.substr(0, kFrontMatterMax);
  std::string name;
  std::string other;
  bool inside = false;
  while (!card.empty()) {
    std::string_view line = card.substr(0, card.find('\n'));
    card.remove_prefix(std::min(card.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line == "---") {
      if (inside) break;
      inside = true;
      continue;
    }
    if (!inside) break;
    if (name.empty()) name = core::printable(value_in(line, "license"));
    if (other.empty()) other = core::printable(value_in(line, "license_name"));
  }
  if (name == "other" && !other.empty()) name = std::move(other);
  const bool forbids = forbids_commerce(name);
  return {.name = std::move(name), .forbids_commerce = forbids};
}

Licence read_licence(const ModelFiles& files) {
  const auto card = files.open_file(files.place() / kCardFile);
  if (!card.ok()) return {};
  const auto bytes = card->bytes();
  return licence_of_card({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace latebind::embedding
