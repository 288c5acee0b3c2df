#include "embedding/hub/name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text/ascii.h"
#include "core/text/name_character.h"
#include "core/text/quote.h"

namespace latebind::embedding::hub {
namespace {

using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kPartMax = 96;
constexpr std::size_t kRevisionMax = 200;
constexpr std::size_t kFileMax = 400;
constexpr std::size_t kBlobMax = 128;

bool is_word(char c) {
  return core::is_name_character(c) && c != '-' && c != '.';
}

bool all_of(std::string_view text, bool (*is)(char)) {
  return std::ranges::all_of(text, is);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether the text can be the name of an organisation or of a model.
bool is_part(std::string_view text) {
  return !text.empty() && text.size() <= kPartMax && all_of(text, core::is_name_character) && is_word(text.front()) &&
         is_word(text.back());
}

bool is_id(std::string_view id) {
  const auto slash = id.find('/');
  if (slash == std::string_view::npos) return false;
  return is_part(id.substr(0, slash)) && is_part(id.substr(slash + 1)) && !contains(id, "--") && !contains(id, "..") &&
         !id.ends_with(".git");
}

// Whether the text has the ending of a file that this program opens or writes: such a word names a missing file.
bool has_file_ending(std::string_view text) {
  constexpr std::array<std::string_view, 10> kEndings{".onnx", ".xml",         ".bin",  ".pte", ".lbundle",
                                                      ".gguf", ".safetensors", ".json", ".zip", ".txt"};
  return std::ranges::any_of(kEndings,
                             [text](std::string_view ending) { return core::ends_with_in_any_case(text, ending); });
}

// Whether the text is a short name, such as "all-MiniLM-L6-v2".
bool is_word_of_a_name(std::string_view text) {
  return is_part(text) && !contains(text, "--") && !contains(text, "..") && !text.ends_with(".git") &&
         !has_file_ending(text);
}

// Models that the hub has without an owner and that sentence-transformers does not complete, of the architectures that
// are supported. Sorted.
constexpr std::array<std::string_view, 31> kWithoutOwner{
    "albert-base-v1",
    "albert-base-v2",
    "albert-large-v1",
    "albert-large-v2",
    "albert-xlarge-v1",
    "albert-xlarge-v2",
    "albert-xxlarge-v1",
    "albert-xxlarge-v2",
    "bert-base-cased",
    "bert-base-chinese",
    "bert-base-german-cased",
    "bert-base-german-dbmdz-cased",
    "bert-base-german-dbmdz-uncased",
    "bert-base-multilingual-cased",
    "bert-base-multilingual-uncased",
    "bert-base-uncased",
    "bert-large-cased",
    "bert-large-cased-whole-word-masking",
    "bert-large-uncased",
    "bert-large-uncased-whole-word-masking",
    "camembert-base",
    "distilbert-base-cased",
    "distilbert-base-german-cased",
    "distilbert-base-multilingual-cased",
    "distilbert-base-uncased",
    "distilroberta-base",
    "roberta-base",
    "roberta-large",
    "roberta-large-mnli",
    "xlm-roberta-base",
    "xlm-roberta-large",
};
static_assert(std::ranges::is_sorted(kWithoutOwner));

// Whether git allows the text as a branch or tag, restricted to usual characters.
bool is_revision(std::string_view text) {
  const auto is_allowed = [](char c) { return core::is_name_character(c) || c == '/' || c == '+'; };
  return !text.empty() && text.size() <= kRevisionMax && all_of(text, is_allowed) && text.front() != '-' &&
         !text.ends_with(".lock") && is_file_name(text);
}

}  // namespace

Result<ModelName> ModelName::parse(std::string_view text, std::string_view owner) {
  const auto at = text.find('@');
  ModelName name;
  name.id = std::string(text.substr(0, at));
  const bool has_no_owner = std::ranges::binary_search(kWithoutOwner, std::string_view(name.id));
  if (!has_no_owner && !owner.empty() && is_word_of_a_name(name.id)) name.id.insert(0, std::string(owner) + "/");
  if (!has_no_owner && !is_id(name.id)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' is not the name of a model on the hub: expected ORG/NAME of letters, digits, '-', "
                              "'_' and '.', without '--' or '..'",
                              printable(text.substr(0, at))));
  }
  if (at != std::string_view::npos) {
    name.revision = std::string(text.substr(at + 1));
    if (!is_revision(name.revision)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("'{}' is not a revision: expected the name of a branch, a tag or a commit after '@'",
                                printable(name.revision)));
    }
  }
  return name;
}

std::string ModelName::text() const {
  return revision == "main" ? id : id + "@" + revision;
}

bool is_model_name(std::string_view text, std::string_view owner) {
  return !has_file_ending(text) && ModelName::parse(text, owner).ok();
}

bool is_commit(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return (text.size() == 40 || text.size() == 64) && all_of(text, is_hex);
}

bool is_file_name(std::string_view text) {
  if (text.empty() || text.size() > kFileMax) return false;
  const auto is_refused = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || contains("\\:*?\"<>|", std::string_view(&c, 1));
  };
  if (std::ranges::any_of(text, is_refused)) return false;
  while (true) {
    const auto slash = text.find('/');
    const std::string_view part = text.substr(0, slash);
    // Windows drops dots and spaces at an end. A leading dot would hide a file; it also covers "." and "..".
    if (part.empty() || part.front() == '.' || part.front() == ' ' || part.back() == '.' || part.back() == ' ') {
      return false;
    }
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_blob_name(std::string_view text) {
  return !text.empty() && text.size() <= kBlobMax && text.front() != '.' && text.back() != '.' &&
         all_of(text, core::is_name_character);
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (core::is_name_character(c) || c == '~') {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace latebind::embedding::hub
