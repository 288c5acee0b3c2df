#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/platform/files/folders.h"
#include "core/platform/windows_error.h"
// The headers below need the types of windows.h.
#include <knownfolders.h>
#include <objbase.h>
#include <shlobj.h>

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using std::filesystem::path;

struct FreeTaskMemory {
  void operator()(wchar_t* text) const { ::CoTaskMemFree(text); }
};

core::Result<path> known_folder(const KNOWNFOLDERID& id, const char* what) {
  PWSTR text = nullptr;
  const HRESULT result = ::SHGetKnownFolderPath(id, KF_FLAG_DONT_VERIFY, nullptr, &text);
  const std::unique_ptr<wchar_t, FreeTaskMemory> owner(text);  // must be freed after a failure, too
  if (FAILED(result) || text == nullptr) {
    return Status(StatusCode::kNotFound, fmt::format("Windows does not report the folder of {} (0x{:08x})", what,
                                                     static_cast<unsigned long>(result)));
  }
  return path(text);
}

}  // namespace

core::Result<path> cache_folder() {
  LB_ASSIGN_OR_RETURN(const path base, known_folder(FOLDERID_LocalAppData, "the user's local data"));
  return base / "latebind" / "cache";
}

core::Result<path> config_folder() {
  LB_ASSIGN_OR_RETURN(const path base, known_folder(FOLDERID_RoamingAppData, "the user's settings"));
  return base / "latebind";
}

path system_config_folder() {
  const auto base = known_folder(FOLDERID_ProgramData, "the data of all users");
  return (base.ok() ? *base : path(L"C:\\ProgramData")) / "latebind";
}

core::Result<path> home_folder() {
  return known_folder(FOLDERID_Profile, "the user's profile");
}

path path_from_utf8(const std::string& text) {
  return path(utf16_of(text));
}

std::string path_for_bytes(const path& file) {
  const auto is_ascii = [](const std::wstring& text) {
    return std::ranges::all_of(text, [](wchar_t c) { return c < 0x80; });
  };
  if (is_ascii(file.native())) return path_to_utf8(file);
  // Latebind's programs have UTF-8 as their code page (program.manifest) if Windows is new enough.
  if (::GetACP() == CP_UTF8) return path_to_utf8(file);
  std::wstring name(32768, L'\0');
  const DWORD size = ::GetShortPathNameW(file.parent_path().c_str(), name.data(), static_cast<DWORD>(name.size()));
  if (size == 0 || size >= name.size()) return path_to_utf8(file);
  name.resize(size);
  return path_to_utf8(path(name) / file.filename());
}

std::string path_to_utf8(const path& path) {
  return utf8_of(path.native());
}

}  // namespace latebind::platform
