#include <cstddef>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>

#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/vendor/vendor_search.h"

namespace latebind::core {
namespace {

// CMake's cache of a build tree has some fifty kilobytes.
constexpr std::uintmax_t kTextMax = std::uintmax_t{1} << 20;

class RealFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Kind kind_of(const std::string& path) const override {
    std::error_code error;
    const auto status = std::filesystem::status(platform::path_from_utf8(path), error);
    if (error || !std::filesystem::exists(status)) return Kind::kNothing;
    return std::filesystem::is_directory(status) ? Kind::kFolder : Kind::kFile;
  }
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const override {
    std::vector<std::string> names;
    std::error_code error;
    platform::for_each_entry(platform::path_from_utf8(folder), error, [&](const std::filesystem::path& entry) {
      names.push_back(platform::path_to_utf8(entry.filename()));
      return true;
    });
    return names;
  }
  [[nodiscard]] std::string text_of(const std::string& file) const override {
    const auto path = platform::path_from_utf8(file);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    const auto size = std::filesystem::file_size(path, error);
    if (error || size > kTextMax) return {};
    std::ifstream stream(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(size), '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
  }
  [[nodiscard]] bool is_same(const std::string& one, const std::string& other) const override {
    std::error_code error;
    return std::filesystem::equivalent(platform::path_from_utf8(one), platform::path_from_utf8(other), error) && !error;
  }
  [[nodiscard]] std::string why_not_trusted(const std::string& file) const override {
    const auto path = platform::path_from_utf8(file);
    // The folder is checked first, because it is more than the way to the file: a library opens others beside it.
    Status status = platform::check_folder_trust(path.parent_path());
    if (status.ok()) status = platform::check_folder_trust(path);
    return status.ok() ? std::string() : std::string(status.message());
  }
};

}  // namespace

const FileSystem& FileSystem::real() {
  // Never destroyed, because libraries may be looked for until the process ends.
  alignas(RealFileSystem) static std::byte place[sizeof(RealFileSystem)];
  static const auto* const instance = new (place) RealFileSystem;
  return *instance;
}

}  // namespace latebind::core
