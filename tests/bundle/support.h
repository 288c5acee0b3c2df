// What the tests of bundles share: ZIPs made by hand, with whatever is wrong in them, and small packages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/package_writer.h"
#include "core/bundle/path_rules.h"
#include "core/model/model.h"

namespace latebind::core::testing {

[[nodiscard]] std::string text_of(const SharedBytes& bytes);
[[nodiscard]] SharedBytes bytes_of(std::string text);
[[nodiscard]] std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view text);
// Names in a folder, sorted.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder);

// One entry of a ZIP made by hand. What is not said is right.
struct HandEntry {
  std::string name = "a";
  std::string data = "data of a";
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t attributes = 0100644U << 16U;
  std::optional<std::uint32_t> crc{};
  std::optional<std::uint32_t> size{};         // in the directory, both sizes
  std::optional<std::uint32_t> stored_size{};  // in the directory
  std::optional<std::uint32_t> local_size{};   // in the local header, both sizes
  std::optional<std::uint32_t> offset{};       // in the directory
  std::optional<std::string> local_name{};
  std::string local_extra{};
  std::string central_extra{};
  std::string gap{};  // bytes before the local header
};

struct HandZip {
  std::vector<HandEntry> entries{};
  std::string before_directory{};
  std::string zip64{};  // what stands between the directory and its end
  std::optional<std::uint16_t> entry_count{};
  std::optional<std::uint32_t> directory_size{};
  std::optional<std::uint32_t> directory_offset{};
  std::string comment{};
  std::string after{};

  [[nodiscard]] std::string bytes() const;
};

// Little-endian numbers.
[[nodiscard]] std::string u16(std::uint64_t value);
[[nodiscard]] std::string u32(std::uint64_t value);
[[nodiscard]] std::string u64(std::uint64_t value);

// A bundle with a portable model, a blob and a tokenizer that both share; each file has about `bytes` bytes. The
// blob's folder has `parts` files beside it.
[[nodiscard]] PackageWriter small_package(std::size_t bytes = 20, std::size_t parts = 1);

}  // namespace latebind::core::testing
