// What the tests of the platform share: folders that vanish, variables that are put back, children with other rights.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace latebind::platform::testing {

// A new folder that everybody may enter and that goes with its content.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  // Names in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

// Sets a variable (or unsets it) until the end of the scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::optional<std::string>& value);
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable();

 private:
  std::string name_;
  std::optional<std::string> before_;
};

[[nodiscard]] std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, const std::string& text);

// -- Not on Windows, which has neither root nor fork().

[[nodiscard]] bool is_root();

// What `body` returns, run in a forked child: for what would change this process for good. An empty text also stands
// for a child that died.
[[nodiscard]] std::string in_child(const std::function<std::string()>& body);

// As above, as the user "nobody" when this is root, since root may write everywhere.
[[nodiscard]] std::string as_nobody(const std::function<std::string()>& body);

constexpr unsigned kNobody = 65534;

}  // namespace latebind::platform::testing
