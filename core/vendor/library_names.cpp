#include "core/vendor/library_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/text/ascii.h"
#include "core/text/pieces.h"

namespace latebind::core {

bool newer_name(std::string_view a, std::string_view b) {
  // Removes the digits at the front of the text and returns them without leading zeros.
  const auto take_number = [](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_ascii_digit(text[end]))
      ++end;
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end);
    while (number.starts_with('0'))
      number.remove_prefix(1);
    return number;
  };
  while (!a.empty() && !b.empty()) {
    if (is_ascii_digit(a.front()) && is_ascii_digit(b.front())) {
      const std::string_view a_number = take_number(a);
      const std::string_view b_number = take_number(b);
      if (a_number.size() != b_number.size()) return a_number.size() > b_number.size();
      if (a_number != b_number) return a_number > b_number;
      continue;
    }
    if (a.front() != b.front()) return a.front() > b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return !a.empty();
}

std::string parent_folder(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos || slash == 0 ? std::string() : path.substr(0, slash);
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

std::string library_name(std::string_view stem, System system) {
  return system == System::kWindows ? fmt::format("{}.dll", stem) : fmt::format("lib{}.so", stem);
}

bool is_library_name(std::string_view name, const std::string& plain, System system) {
  if (system == System::kWindows) return equals_in_any_case(name, plain);
  if (!name.starts_with(plain)) return false;
  name.remove_prefix(plain.size());
  if (name.empty()) return true;
  return name.size() > 1 && name[0] == '.' && is_ascii_digit(name[1]) &&
         std::ranges::all_of(name, [](char c) { return is_ascii_digit(c) || c == '.'; });
}

System own_system() {
#ifdef _WIN32
  return System::kWindows;
#else
  return System::kLinux;
#endif
}

std::string own_architecture() {
#if defined(__aarch64__) || defined(_M_ARM64)
  return "aarch64";
#else
  return "x86_64";
#endif
}

bool is_absolute_path(std::string_view path, System system) {
  if (system == System::kLinux) return path.starts_with('/');
  if (path.starts_with("//")) return path.size() > 2;
  return path.size() > 2 && path[1] == ':' && path[2] == '/';
}

std::vector<std::string> split_paths(std::string_view text, System system) {
  const std::string_view separators = system == System::kWindows ? ",;" : ",:";
  std::vector<std::string> paths;
  while (!text.empty()) {
    const auto end = text.find_first_of(separators);
    std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    part = trimmed(part, " ");
    if (!part.empty()) paths.emplace_back(part);
  }
  return paths;
}

}  // namespace latebind::core
