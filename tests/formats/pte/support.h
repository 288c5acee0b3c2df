// What the tests of programs (.pte) share.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/pte/reader.h"
#include "formats/pte/writer.h"

namespace latebind::pte::test {

// A file's bytes at an address that the reader takes.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::string_view bytes)
      : memory_(std::make_unique<std::max_align_t[]>(bytes.size() / sizeof(std::max_align_t) + 1)),
        size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(memory_.get(), bytes.data(), bytes.size());
  }
  [[nodiscard]] std::span<const std::byte> span() const {
    return {reinterpret_cast<const std::byte*>(memory_.get()), size_};
  }

 private:
  std::unique_ptr<std::max_align_t[]> memory_;
  std::size_t size_;
};

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string made(const ProgramSpec& spec, std::string_view payload = "the payload") {
  auto bytes = program_bytes(spec, payload);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? *bytes : std::string();
}

// Two inputs, one of them dynamic and one in another order of dimensions, and an output.
inline ProgramSpec small_spec() {
  ProgramSpec spec;
  spec.inputs = {{.name = "ids", .type = ScalarType::kI64, .sizes = {8, 256}, .is_dynamic = true},
                 {.name = "image", .type = ScalarType::kU8, .sizes = {1, 3, 5, 7}, .dim_order = {0, 2, 3, 1}}};
  spec.outputs = {{.name = "vector", .type = ScalarType::kF32, .sizes = {8, 384}, .is_dynamic = true}};
  spec.compile_specs = {{"device", "cpu"}};
  return spec;
}

}  // namespace latebind::pte::test
