#include "server/model_digest.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <system_error>

#include "core/platform/digest.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::server {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kFilesMax = 10000;
constexpr int kDepthMax = 8;
// Larger files are sampled: kSamples samples of kSampleBytes, spread over the file.
constexpr std::size_t kWholeMax = std::size_t{1} << 20;
constexpr std::size_t kSamples = 16;
constexpr std::size_t kSampleBytes = std::size_t{16} << 10;

// By path below the model's place, with '/'.
using Files = std::map<std::string, fs::path>;

void collect(const fs::path& folder, const std::string& before, int depth, Files& files) {
  std::error_code ignored;
  platform::for_each_entry(folder, ignored, [&](const fs::path& entry) {
    const std::string name = platform::path_to_utf8(entry.filename());
    std::error_code error;
    if (name.starts_with('.')) return true;
    if (fs::is_directory(entry, error)) {
      if (depth < kDepthMax) collect(entry, before + name + "/", depth + 1, files);
    } else if (fs::is_regular_file(entry, error)) {
      files.emplace(before + name, entry);
    }
    return files.size() < kFilesMax;
  });
}

void add_content(std::span<const std::byte> bytes, platform::Sha256& sum) {
  if (bytes.size() <= kWholeMax) return sum.update(bytes);
  const std::size_t rest = bytes.size() - kSampleBytes;
  for (std::size_t i = 0; i < kSamples; ++i)
    sum.update(bytes.subspan(rest / (kSamples - 1) * i + rest % (kSamples - 1) * i / (kSamples - 1), kSampleBytes));
}

}  // namespace

ModelDigest digest_of_model(const fs::path& place, const std::string& commit) {
  Files files;
  std::error_code error;
  if (fs::is_directory(place, error)) {
    collect(place, {}, 0, files);
  } else {
    files.emplace(std::string(), place);
  }
  ModelDigest digest;
  platform::Sha256 sum;
  for (const auto& [name, file] : files) {
    const std::uintmax_t size = fs::file_size(file, error);
    if (error) continue;
    digest.bytes += size;
    if (!commit.empty()) continue;
    sum.update(fmt::format("{}\n{}\n", name, size));
    if (const auto mapped = platform::MappedFile::open(file); mapped.ok()) add_content(mapped->bytes(), sum);
  }
  if (!commit.empty()) sum.update(commit);
  digest.hex = sum.hex();
  return digest;
}

}  // namespace latebind::server
