#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <cstdlib>

#include "tests/fakes/loaded.h"

namespace latebind::test {

std::string file_of_code(const void* address) {
  HMODULE module = nullptr;
  if (::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           static_cast<LPCWSTR>(address), &module) == 0) {
    return {};
  }
  std::wstring name(32768, L'\0');
  name.resize(::GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size())));
  return std::filesystem::path(name).string();
}

void* symbol_of_loaded(const std::filesystem::path& file, const char* name) {
  HMODULE module = ::GetModuleHandleW(file.c_str());
  return module == nullptr ? nullptr : reinterpret_cast<void*>(::GetProcAddress(module, name));
}

// The C runtime has its own copy of what the system knows.
void set_variable(const char* name, const std::optional<std::string>& value) {
  ::_putenv_s(name, value.value_or("").c_str());
  ::SetEnvironmentVariableA(name, value ? value->c_str() : nullptr);
}

}  // namespace latebind::test
