#include "embedding/hub/name.h"

#include <fmt/format.h>

#include <algorithm>

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

// An organisation's or a model's own name.
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

// What git allows of a branch or tag, and no more than is usual.
bool is_revision(std::string_view text) {
  const auto is_allowed = [](char c) { return core::is_name_character(c) || c == '/' || c == '+'; };
  return !text.empty() && text.size() <= kRevisionMax && all_of(text, is_allowed) && text.front() != '-' &&
         !text.ends_with(".lock") && is_file_name(text);
}

}  // namespace

Result<ModelName> ModelName::parse(std::string_view text) {
  const auto at = text.find('@');
  ModelName name;
  name.id = std::string(text.substr(0, at));
  if (!is_id(name.id)) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("'{}' is no name of a model on the hub: ORG/NAME is expected, of letters, digits, '-', '_' "
                    "and '.', without '--' or '..'",
                    printable(name.id)));
  }
  if (at != std::string_view::npos) {
    name.revision = std::string(text.substr(at + 1));
    if (!is_revision(name.revision)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("'{}' is no revision: after '@' the name of a branch, a tag or a commit is expected",
                                printable(name.revision)));
    }
  }
  return name;
}

std::string ModelName::text() const {
  return revision == "main" ? id : id + "@" + revision;
}

bool is_model_name(std::string_view text) {
  return ModelName::parse(text).ok();
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
    // Windows drops dots and spaces at an end; a leading dot would hide a file, "." and ".." among them.
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
