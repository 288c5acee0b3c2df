#include "embedding/folder/gguf/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "embedding/folder/gguf.h"
#include "embedding/folder/gguf/tokenizer_json.h"
#include "embedding/folder/weights_files.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"
#include "embedding/weights/gguf/gguf_file.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

namespace {

// The generated files of the model.
Result<GgufNetwork> describe_all(const GgufHeader& header) {
  LB_ASSIGN_OR_RETURN(GgufNetwork made, describe_gguf_network(header));
  LB_ASSIGN_OR_RETURN(made.files["tokenizer.json"], gguf_tokenizer_json(header, made.is_decoder));
  made.files[std::string(kTokenizerConfigFile)] = gguf_tokenizer_config(made.is_decoder);
  return made;
}

}  // namespace

Result<GgufModel> GgufModel::open(const path& file) {
  LB_ASSIGN_OR_RETURN(const core::FilePart part, core::FilePart::open(file));
  LB_ASSIGN_OR_RETURN(const GgufHeader header, GgufHeader::read(part, platform::path_to_utf8(file)));
  auto made = describe_all(header);
  if (!made.ok()) {
    const std::string hint = made.status().code() == StatusCode::kUnsupported
                                 ? say_gguf_origin(read_gguf_origin(part.bytes.bytes).value_or(GgufOrigin()))
                                 : "";
    return Status(made.status().code(), std::string(made.status().message()) + hint);
  }
  GgufModel model;
  model.file_ = file;
  for (auto& [name, text] : made->files)
    model.files_.emplace(name, core::SharedBytes::from_string(std::move(text)));
  model.assumed_ = std::move(made->assumed);
  model.types_ = describe_gguf_types(header);
  return model;
}

std::optional<core::SharedBytes> GgufModel::find(std::string_view relative) const {
  const auto found = files_.find(relative);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

bool is_gguf_file(const path& file) {
  std::error_code error;
  // Opening a named pipe would wait for its writer.
  if (!std::filesystem::is_regular_file(file, error)) return false;
  std::array<char, kGgufMagic.size()> first{};
  std::ifstream(file, std::ios::binary).read(first.data(), first.size());
  return std::string_view(first.data(), first.size()) == kGgufMagic;
}

bool has_gguf_suffix(const path& file) {
  return core::equals_in_any_case(platform::path_to_utf8(file.extension()), ".gguf");
}

Result<std::optional<path>> find_gguf_model(const path& folder) {
  std::error_code error;
  const auto has = [&](std::string_view name) { return std::filesystem::is_regular_file(folder / name, error); };
  for (const std::string_view name : {"modules.json", "onnx/model.onnx", "model.onnx"}) {
    if (has(name)) return std::optional<path>();
  }
  if (has_weights_files([&](std::string_view name) { return name != kGgufFile && has(name); }))
    return std::optional<path>();
  std::vector<path> found;
  platform::for_each_entry(folder, error, [&](const path& entry) {
    std::error_code ignored;
    if (has_gguf_suffix(entry) && std::filesystem::is_regular_file(entry, ignored)) found.push_back(entry);
    return true;
  });
  if (found.empty()) return std::optional<path>();
  if (found.size() == 1) return std::optional(found.front());
  std::ranges::sort(found);
  constexpr std::size_t kShownMax = 24;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(found.size(), kShownMax); ++i)
    names.push_back(core::printable(platform::path_to_utf8(found[i].filename())));
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{} has {} GGUF files; name one of them as the model: {}", platform::quoted(folder),
                            found.size(), fmt::join(names, ", ")));
}

}  // namespace latebind::embedding
