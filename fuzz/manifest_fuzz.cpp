// Fuzzes what a run of `latebind embed -o` finds of an earlier one: manifest.json, progress.json, and what this run's
// manifest would be, separated by NUL bytes in this order. A progress that begins with '#' gets the digest that belongs
// to it. Whatever is there, it is continued within its files, begun anew, or left alone with a reason in one line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/bulk/manifest.h"
#include "app/bulk/partial_output.h"
#include "core/platform/digest.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"
#include "fuzz/own_folder.h"

namespace {

namespace fs = std::filesystem;
using namespace latebind;

constexpr std::size_t kVectorBytes = 64;
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kDifferenceBytesMax = 2000;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_one_line(const std::string& text) {
  return core::printable(text, text.size()) == text;
}

void put(const fs::path& file, std::string_view content) {
  std::ofstream(file, std::ios::binary) << content;
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string with_digest(std::string numbers) {
  const std::string digest = platform::sha256_hex(std::as_bytes(std::span(numbers)));
  if (!numbers.empty()) numbers.pop_back();
  return numbers + R"(,"sha256":")" + digest + "\"}\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take = [&rest] { return std::string(core::take_until(rest, '\0')); };
  const std::string manifest = take();
  std::string progress = take();
  if (progress.starts_with('#')) progress = with_digest(progress.substr(1));
  const auto now = app::parse_manifest(take(), "'now'");

  const fs::path place = own_folder() / "v.npy";
  const fs::path part = own_folder() / "v.npy.part";
  fs::create_directory(part);
  put(part / "manifest.json", manifest);
  put(part / "progress.json", progress);
  put(part / "vectors", std::string(kVectorBytes, 'v'));
  put(part / "ids", std::string(kIdBytes, 'i'));

  auto output = app::PartialOutput::open(place);
  if (!output.ok()) {
    require(is_one_line(output.status().to_string()));
    // It may be somebody else's.
    require(content_of(part / "manifest.json") == manifest && content_of(part / "progress.json") == progress);
    return 0;
  }
  const app::PartialProgress& found = output->progress();
  if (output->manifest()) {
    const app::Json& was = *output->manifest();
    require(was["format"] == app::kManifestFormat && was["kind"] == "file");
    require(found.bytes <= kVectorBytes && found.id_bytes <= kIdBytes);
    require(app::differences(was, was).empty());
    // As written it is the same again.
    const auto again = app::parse_manifest(app::to_text(was), "'again'");
    require(again.ok() && *again == was);
    if (now.ok()) {
      const std::vector<app::Difference> differences = app::differences(was, *now);
      require(differences.size() == app::differences(*now, was).size());
      require(was != *now || differences.empty());
      for (const app::Difference& one : differences) {
        for (const std::string& text : {one.place, one.was.value_or(""), one.now.value_or("")})
          require(is_one_line(text) && text.size() <= kDifferenceBytesMax);
      }
    }
  } else {
    require(found.texts == 0 && found.file == 0 && found.offset == 0 && found.line == 0 && found.bytes == 0 &&
            found.id_bytes == 0 && !found.has_ids);
  }
  require(output->begin().ok());
  require(fs::file_size(part / "vectors") == found.bytes && fs::file_size(part / "ids") == found.id_bytes);
  return 0;
}
