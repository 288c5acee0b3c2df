// A fake libopenvino_c.so in a folder of its own, for one test. See README.md for what its script can say.
//
// One thread at a time for the methods that change it; what was loaded from it may be used from any.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/model/model.h"

namespace latebind::test {

class FakeOpenvino {
 public:
  // The name that Python packages ship.
#ifdef _WIN32
  static constexpr const char* kName = "openvino_c.dll";
#else
  static constexpr const char* kName = "libopenvino_c.so.2641";
#endif
  explicit FakeOpenvino(std::string name = kName);
  FakeOpenvino(const FakeOpenvino&) = delete;
  FakeOpenvino& operator=(const FakeOpenvino&) = delete;
  ~FakeOpenvino();

  [[nodiscard]] const std::filesystem::path& folder() const {
    return folder_;
  }
  [[nodiscard]] const std::filesystem::path& file() const {
    return file_;
  }

  // Replaces the whole script, in one step.
  void script(std::string_view text);

  // Changes to the file itself, before anything loads it.
  void remove();
  void install();
  void remove_function(const std::string& name);
  void make_text_file();
  void make_other_architecture();
  void cut_off();

  // Whether opening the library has begun, where the script makes that slow.
  [[nodiscard]] bool opening() const;

  // What the loaded library counts; zero, when it was not loaded.
  [[nodiscard]] long alive(const std::string& kind = {}) const;
  [[nodiscard]] long calls(const std::string& function) const;
  // What was done wrong with it: freed twice, in the wrong order, used after it was freed. Empty when all was right.
  [[nodiscard]] std::string defects() const;

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

// A model in the fake's own language, as a Model (in ONNX's place).
[[nodiscard]] core::Model fake_model(std::string_view lines, std::string name = "fake");

}  // namespace latebind::test
