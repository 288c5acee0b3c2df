// Bundles: the input as a whole ZIP, and as the manifest of one that is right otherwise.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/bundle/crc32.h"
#include "core/bundle/package.h"
#include "core/bundle/path_rules.h"

namespace {

using latebind::core::check_package_path;
using latebind::core::Component;
using latebind::core::crc32;
using latebind::core::manifest_text;
using latebind::core::Package;
using latebind::core::PackageFiles;
using latebind::core::read_manifest;
using latebind::core::RecordedFile;
using latebind::core::SharedBytes;
using latebind::core::Status;
using latebind::core::Variant;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string number(std::uint64_t value, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return out;
}

SharedBytes shared(std::string text) {
  return SharedBytes::from_string(std::move(text));
}

// A ZIP of a manifest, a model and a component in a separate file.
std::string zip_of(std::string_view manifest, std::string_view component) {
  std::string out;
  std::string directory;
  std::size_t count = 0;
  const auto add = [&](std::string_view name, std::string_view data) {
    const std::uint32_t sum = crc32(std::as_bytes(std::span(data)));
    const std::string common = number(20, 2) + number(0, 6) + number(33, 2) + number(sum, 4) + number(data.size(), 4) +
                               number(data.size(), 4) + number(name.size(), 2) + number(0, 2);
    directory += number(0x02014B50, 4) + number(20, 2) + common + number(0, 6) + number(0, 4) + number(out.size(), 4);
    directory += name;
    out += number(0x04034B50, 4) + common;
    out += name;
    out += data;
    ++count;
  };
  add("manifest.json", manifest);
  add("c/component.json", component);
  add("v/model.onnx", "model");
  add("shared_assets/sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/a", "a");
  const std::size_t begin = out.size();
  out += directory;
  return out + number(0x06054B50, 4) + number(0, 4) + number(count, 2) + number(count, 2) +
         number(directory.size(), 4) + number(begin, 4) + number(0, 2);
}

void require_one_line(const Status& status) {
  require(status.to_string().find('\n') == std::string::npos);
}

// Everything that can be done with an opened package.
void use(SharedBytes bytes) {
  const auto files = PackageFiles::from_zip(bytes, "fuzz");
  if (!files.ok()) return require_one_line(files.status());
  const auto all = files->list();
  require(all.ok());
  for (const auto& file : *all) {
    require(check_package_path(file.path, "fuzz").ok());
    const auto content = files->read(file.path);
    require(content.ok() && content->bytes.size() == file.size);
    require(content->bytes.data() >= bytes.bytes.data() &&
            content->bytes.data() + content->bytes.size() <= bytes.bytes.data() + bytes.bytes.size());
  }
  const auto package = Package::from_files(*files);
  if (!package.ok()) return require_one_line(package.status());
  const auto report = package->verify();
  require(report.ok());
  for (const Component& component : package->manifest().components) {
    for (const Variant& variant : component.variants) {
      if (!variant.latebind) continue;
      for (const RecordedFile& file : variant.latebind->files) {
        const auto content = package->open_verified_file(variant, file.path);
        require(!report->ok() || content.ok());
      }
    }
  }
  // What was read can be written, and then says the same.
  const auto text = manifest_text(package->manifest());
  if (!text.ok()) return;
  const auto again = PackageFiles::from_zip(shared(zip_of(*text, "{}")), "fuzz");
  require(again.ok());
  const auto manifest = read_manifest(*again);
  // Folders that this ZIP does not have, and limits of one file that two had together.
  if (!manifest.ok()) return require_one_line(manifest.status());
  require(manifest_text(*manifest).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  use(shared(input));
  use(shared(zip_of(input, "{\"variants\": {}}")));
  use(shared(zip_of(R"({"schema_version": "1.0", "components": {"c": "c"}})", input)));
  return 0;
}
