#include "core/bundle/path_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "core/text/ascii.h"
#include "core/text/name_character.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::core {
namespace {

Status refused(std::string_view path, std::string_view where, std::string_view why) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: the path '{}' {}", where, printable(path), why));
}

// Whether the part names a device on Windows, whatever follows a dot in it.
bool is_device_name(std::string_view part) {
  const std::string stem = ascii_lowered(part.substr(0, part.find('.')));
  static constexpr std::array<std::string_view, 4> kWords{"con", "prn", "aux", "nul"};
  if (std::ranges::find(kWords, stem) != kWords.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && is_ascii_digit(stem[3]);
}

std::string_view fault_of_part(std::string_view part) {
  if (part.empty()) return "has an empty part";
  if (part == "." || part == "..") return "has a part '.' or '..'";
  if (part.back() == '.' || part.back() == ' ') return "has a part that ends in a dot or a space";
  if (is_device_name(part)) return "has a part that is a device on Windows";
  return {};
}

}  // namespace

Status check_package_path(std::string_view path, std::string_view where) {
  if (path.empty()) return refused(path, where, "is empty");
  if (path.size() > kPackagePathBytesMax) {
    return refused(path, where, fmt::format("has {} bytes, more than {}", path.size(), kPackagePathBytesMax));
  }
  if (path.front() == '/') return refused(path, where, "is absolute");
  if (find_invalid_utf8(path)) return refused("…", where, "is not UTF-8");
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) return refused(path, where, "has a control character");
    if (c == '\\' || c == ':') return refused(path, where, "has a backslash or a colon");
  }
  std::size_t parts = 0;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view fault = fault_of_part(path.substr(begin, end - begin));
    if (!fault.empty()) return refused(path, where, fault);
    ++parts;
    begin = end + 1;
  }
  if (parts > kPackagePathPartsMax) {
    return refused(path, where, fmt::format("has {} parts, more than {}", parts, kPackagePathPartsMax));
  }
  return Status();
}

Status check_distinct_paths(std::span<const std::string_view> files, std::span<const std::string_view> folders,
                            std::string_view where) {
  const auto folded = [&](std::span<const std::string_view> paths) {
    std::vector<std::string> out;
    out.reserve(paths.size());
    for (const std::string_view path : paths)
      out.push_back(ascii_lowered(path));
    std::ranges::sort(out);
    return out;
  };
  const std::vector<std::string> small_files = folded(files);
  const std::vector<std::string> small_folders = folded(folders);
  for (const auto* paths : {&small_files, &small_folders}) {
    if (const auto twice = std::ranges::adjacent_find(*paths); twice != paths->end()) {
      return refused(*twice, where, "occurs twice (some systems do not distinguish upper and lower case)");
    }
    for (const std::string& path : *paths) {
      for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
        const std::string_view folder = std::string_view(path).substr(0, end);
        if (std::ranges::binary_search(small_files, folder, std::less<>())) {
          return refused(folder, where, "is a file and a folder at once");
        }
      }
    }
  }
  for (const std::string& folder : small_folders) {
    if (std::ranges::binary_search(small_files, folder)) {
      return refused(folder, where, "is a file and a folder at once");
    }
  }
  return Status();
}

Result<std::string> join_package_path(std::string_view base, std::string_view relative, std::string_view where) {
  if (relative.empty()) return refused(relative, where, "is empty");
  if (relative.front() == '/')
    return refused(relative, where, "is absolute; a portable package has only relative paths");
  std::string joined(base);
  for (std::size_t begin = 0; begin < relative.size();) {
    const std::size_t end = std::min(relative.find('/', begin), relative.size());
    const std::string_view part = relative.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return refused(relative, where, "has a part '..', which a portable package must not have");
    if (!joined.empty()) joined += '/';
    joined += part;
  }
  if (!joined.empty()) LB_RETURN_IF_ERROR(check_package_path(joined, where));
  return joined;
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder.empty()) return !path.empty();
  return path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string folder_name_of(std::string_view text) {
  std::string name;
  for (const char given : text) {
    const char c = ascii_lower(given);
    name += is_name_character(c) ? c : '-';
  }
  while (!name.empty() && name.back() == '.')
    name.back() = '-';
  if (name.empty() || is_device_name(name)) name += '_';
  return name;
}

}  // namespace latebind::core
