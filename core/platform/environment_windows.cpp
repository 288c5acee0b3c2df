#include <cstdlib>
#include <exception>
#include <string>

#include "core/platform/environment.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

// If User Account Control is switched off, every program has all the rights of its user, and none is elevated.
bool has_account_control() {
  DWORD on = 1;
  DWORD size = sizeof(on);
  ::RegGetValueW(HKEY_LOCAL_MACHINE, LR"(SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System)", L"EnableLUA",
                 RRF_RT_REG_DWORD, nullptr, &on, &size);
  return on != 0;
}

// Whether User Account Control has raised this process. Its variables come from the user's part of the registry, which
// any program without those rights may write.
bool is_elevated() {
  HANDLE opened = nullptr;
  if (::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &opened) == 0) return true;
  const WindowsHandle token(opened);
  TOKEN_ELEVATION_TYPE type = TokenElevationTypeDefault;
  DWORD size = 0;
  if (::GetTokenInformation(token.get(), TokenElevationType, &type, sizeof(type), &size) == 0) return true;
  return type == TokenElevationTypeFull && has_account_control();
}

}  // namespace

bool is_privileged() {
  static const bool elevated = is_elevated();
  return elevated;
}

std::optional<std::string> environment(const char* name) {
  const std::wstring wide_name = utf16_of(name);
  std::wstring value(256, L'\0');
  while (true) {
    const DWORD size = ::GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (size == 0) return std::nullopt;  // unset or empty
    if (size < value.size()) {
      value.resize(size);
      return utf8_of(value);
    }
    value.resize(size);  // another thread may have made it longer meanwhile, so query it again
  }
}

std::optional<std::string> trusted_environment(const char* name) {
  if (is_privileged()) return std::nullopt;
  return environment(name);
}

void set_environment_default(const char* name, const char* value) noexcept {
  try {
    const std::wstring wide_name = utf16_of(name);
    ::SetLastError(ERROR_SUCCESS);
    if (::GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0) != 0 || ::GetLastError() != ERROR_ENVVAR_NOT_FOUND) {
      return;
    }
    // Sets both the system's environment and the C runtime's copy of it.
    ::_wputenv_s(wide_name.c_str(), utf16_of(value).c_str());
  } catch (const std::exception&) {
    // No memory for a name.
  }
}

std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  wchar_t* const block = ::GetEnvironmentStringsW();
  if (block == nullptr) return found;
  for (const wchar_t* entry = block; *entry != L'\0'; entry += std::wstring_view(entry).size() + 1) {
    const std::string text = utf8_of(entry);
    const auto equals = text.find('=');
    if (equals == std::string::npos || !text.starts_with(prefix)) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  ::FreeEnvironmentStringsW(block);
  return found;
}

}  // namespace latebind::platform
