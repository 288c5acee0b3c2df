// What the tests of model folders and graphs share.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::embedding::testing {

inline std::filesystem::path data_folder() {
  return std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests" / "data";
}

// One of "f32", "f16" and "bf16": the type of the weights.
inline std::filesystem::path tiny_bert(std::string_view weights) {
  return data_folder() / "tiny-bert" / weights;
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

// A copy of a tiny model that a test may spoil; gone at its end.
class ScratchFolder {
 public:
  ScratchFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(LATEBIND_BINARY_DIR) / "scratch" /
            (std::string(test->test_suite_name()) + "." + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void copy_tiny_bert() const {
    // Not copy(), which takes all folders for one and the same in mingw-w64's C++ library.
    const std::filesystem::path from = tiny_bert("f32");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from)) {
      const auto to = path_ / entry.path().lexically_relative(from);
      if (entry.is_directory()) {
        std::filesystem::create_directories(to);
      } else {
        std::filesystem::copy_file(entry.path(), to);
      }
    }
  }
  void write(const std::string& name, std::string_view text) const { write_file(path_ / name, text); }
  // Sets or, with null, removes a key of a JSON file in the folder.
  void set(const std::string& name, const std::string& key, const nlohmann::json& value) const {
    auto document = nlohmann::json::parse(read_file(path_ / name));
    if (value.is_null()) {
      document.erase(key);
    } else {
      document[key] = value;
    }
    write(name, document.dump());
  }

 private:
  std::filesystem::path path_;
};

// A safetensors file: length, header, data.
inline std::string safetensors(std::string_view header, std::size_t data_bytes) {
  std::string file;
  for (unsigned shift = 0; shift < 64; shift += 8)
    file += static_cast<char>(header.size() >> shift & 0xffU);
  return file.append(header) + std::string(data_bytes, '\0');
}

}  // namespace latebind::embedding::testing
