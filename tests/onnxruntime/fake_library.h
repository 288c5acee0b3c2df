// A copy of a fake libonnxruntime in a folder of its own, so that each test has a library that nobody has opened.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/platform/dynamic_library.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/fakes/fake_onnxruntime_state.h"

namespace latebind::test {

class FakeLibrary {
 public:
  // One of the variants in CMakeLists.txt; empty: there is only the folder yet.
  explicit FakeLibrary(const std::string& variant = "good")
      : folder_(*platform::TemporaryFolder::create("fake-onnxruntime")) {
    if (!variant.empty()) install(variant);
  }

  void install(const std::string& variant) {
    std::filesystem::copy_file(std::filesystem::path(LATEBIND_FAKES) / (variant + ".so"), file(),
                               std::filesystem::copy_options::overwrite_existing);
  }

  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "libonnxruntime.so.1.31.1"; }

  [[nodiscard]] fake::OnnxruntimeState& state() {
    if (!opened_) opened_.emplace(*platform::DynamicLibrary::open(file()));
    return *reinterpret_cast<fake::OnnxruntimeState* (*)()>(opened_->symbol("latebind_fake_state"))();
  }

 private:
  platform::TemporaryFolder folder_;
  std::optional<platform::DynamicLibrary> opened_;
};

}  // namespace latebind::test
