#include <cstdlib>
#include <stdexcept>

#include "core/platform/files/temporary_folder.h"
#include "core/platform/windows_error.h"
#include "tests/platform/support.h"

namespace latebind::platform::testing {
namespace {

// The C runtime has its own copy of what the system knows.
void set_variable(const std::string& name, const std::optional<std::string>& value) {
  ::_wputenv_s(utf16_of(name).c_str(), value ? utf16_of(*value).c_str() : L"");
  ::SetEnvironmentVariableW(utf16_of(name).c_str(), value ? utf16_of(*value).c_str() : nullptr);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  auto folder = platform::TemporaryFolder::create("latebind-test");
  if (!folder.ok()) throw std::runtime_error("no temporary folder could be made: " + folder.status().to_string());
  // The name alone is kept: that object would remove the folder now.
  path_ = folder->path();
  folder->remove();
  std::filesystem::create_directory(path_);
}

ScopedVariable::ScopedVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
  if (const wchar_t* before = ::_wgetenv(utf16_of(name).c_str())) before_ = utf8_of(before);
  set_variable(name_, value);
}

ScopedVariable::~ScopedVariable() {
  set_variable(name_, before_);
}

}  // namespace latebind::platform::testing
