#include "tests/bundle/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "core/bundle/crc32.h"

namespace latebind::core::testing {

std::string text_of(const SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()};
}

SharedBytes bytes_of(std::string text) {
  return SharedBytes::from_string(std::move(text));
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

namespace {

std::string number(std::uint64_t value, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return out;
}

}  // namespace

std::string u16(std::uint64_t value) {
  return number(value, 2);
}
std::string u32(std::uint64_t value) {
  return number(value, 4);
}
std::string u64(std::uint64_t value) {
  return number(value, 8);
}

std::string HandZip::bytes() const {
  std::string out;
  std::string directory;
  for (const HandEntry& entry : entries) {
    out += entry.gap;
    const std::size_t offset = out.size();
    const std::uint32_t crc = entry.crc.value_or(crc32(std::as_bytes(std::span(entry.data))));
    const auto size = static_cast<std::uint32_t>(entry.data.size());
    const std::string& local_name = entry.local_name.has_value() ? *entry.local_name : entry.name;
    const std::uint32_t local_size = entry.local_size.value_or(entry.size.value_or(size));
    out += u32(0x04034B50) + u16(20) + u16(entry.flags) + u16(entry.method) + u16(0) + u16(33) + u32(crc) +
           u32(local_size) + u32(local_size) + u16(local_name.size()) + u16(entry.local_extra.size()) + local_name +
           entry.local_extra + entry.data;
    directory += u32(0x02014B50) + u16(0x0314) + u16(20) + u16(entry.flags) + u16(entry.method) + u16(0) + u16(33) +
                 u32(crc) + u32(entry.stored_size.value_or(entry.size.value_or(size))) +
                 u32(entry.size.value_or(size)) + u16(entry.name.size()) + u16(entry.central_extra.size()) + u16(0) +
                 u16(0) + u16(0) + u32(entry.attributes) + u32(entry.offset.value_or(offset)) + entry.name +
                 entry.central_extra;
  }
  out += before_directory;
  const std::size_t begin = out.size();
  out += directory + zip64;
  const std::uint16_t count = entry_count.value_or(static_cast<std::uint16_t>(entries.size()));
  out += u32(0x06054B50) + u16(0) + u16(0) + u16(count) + u16(count) + u32(directory_size.value_or(directory.size())) +
         u32(directory_offset.value_or(begin)) + u16(comment.size()) + comment + after;
  return out;
}

PackageWriter small_package(std::size_t bytes, std::size_t parts) {
  std::minstd_rand random(1);
  const auto content = [&](const std::string& head) {
    std::string text = head;
    while (text.size() < bytes)
      text += static_cast<char>(random());
    return bytes_of(std::move(text));
  };
  PackageWriter writer({.name = "toy",
                        .version = "1.0",
                        .description = "a toy model",
                        .additional_metadata = {{"licence", "Apache-2.0"}}});
  const auto tokenizer =
      writer.add_asset({{"tokenizer.json", content("{}")}, {"1_Pooling/config.json", content("{}")}});
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  LatebindInfo portable;
  portable.target = kPortableTarget;
  portable.format = "onnx";
  portable.model = "model.onnx";
  portable.precision = "f32";
  portable.assets = {{"model_folder", *tokenizer}};
  Status added = writer.add_variant("model", {.name = "portable",
                                              .ep = "CPUExecutionProvider",
                                              .latebind = portable,
                                              .executor_info = {{"ort", {{"model_file", "model.onnx"}}}},
                                              .files = {{"model.onnx", content("portable model")}}});
  EXPECT_TRUE(added.ok()) << added.to_string();
  LatebindInfo blob = portable;
  blob.target = "npu:v73";
  blob.backend = "toy";
  blob.device = "NPU.v73";
  blob.runtime_version = "2.51.0";
  blob.precision = "f16";
  blob.format = "blob";
  blob.model = "model.blob";
  blob.shapes = {{1, 32}, {1, 128}};
  std::vector<PackageFile> files{{"model.blob", content("blob")}};
  for (std::size_t i = 0; i < parts; ++i)
    files.push_back({"parts/" + std::to_string(i), content("part")});
  added = writer.add_variant("model", {.name = folder_name_of("npu:v73"),
                                       .device = "npu",
                                       .compatibility_string = "v2:73",
                                       .latebind = blob,
                                       .files = std::move(files)});
  EXPECT_TRUE(added.ok()) << added.to_string();
  return writer;
}

}  // namespace latebind::core::testing
