#include "core/platform/files/windows_path.h"

#include <string_view>
#include <utility>

#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

constexpr std::wstring_view kVerbatim = LR"(\\?\)";
constexpr std::wstring_view kVerbatimShare = LR"(\\?\UNC\)";
constexpr std::wstring_view kShare = LR"(\\)";
// The limit for a folder leaves room for a short file name (8.3) below it.
constexpr std::size_t kShortMax = MAX_PATH - 12;

// Whether the path begins with `\\?\` or `\\.\`, also with slashes, so that it must not be changed.
bool is_verbatim_or_device(std::wstring_view text) {
  const auto slash = [](wchar_t c) { return c == L'\\' || c == L'/'; };
  return text.size() >= 4 && slash(text[0]) && slash(text[1]) && (text[2] == L'?' || text[2] == L'.') && slash(text[3]);
}

}  // namespace

std::wstring long_path(const std::filesystem::path& path) {
  const std::wstring& text = path.native();
  // A relative path of any length may stand for a long one.
  if (text.empty() || is_verbatim_or_device(text) || (path.is_absolute() && text.size() < kShortMax)) return text;
  std::wstring full(text.size() + MAX_PATH, L'\0');
  DWORD size = ::GetFullPathNameW(text.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
  if (size >= full.size()) {
    full.resize(size);
    size = ::GetFullPathNameW(text.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
  }
  if (size == 0 || size >= full.size()) return text;
  full.resize(size);
  if (full.size() < kShortMax || is_verbatim_or_device(full)) return text;
  if (full.starts_with(kShare)) return std::wstring(kVerbatimShare) + full.substr(kShare.size());
  return std::wstring(kVerbatim) + full;
}

std::filesystem::path plain_path(std::wstring text) {
  if (text.starts_with(kVerbatimShare)) {
    text.replace(0, kVerbatimShare.size(), kShare);
  } else if (text.starts_with(kVerbatim)) {
    text.erase(0, kVerbatim.size());
  }
  return {std::move(text)};
}

}  // namespace latebind::platform
