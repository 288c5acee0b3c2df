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

#include "core/json/value.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "embedding/folder/gguf.h"
#include "embedding/folder/gguf/messages.h"
#include "embedding/folder/gguf/pieces.h"
#include "embedding/folder/gguf/tokenizer_json.h"
#include "embedding/folder/weights_files.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"
#include "embedding/weights/gguf/gguf_file.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {

using core::Json;
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

Status GgufModel::add_pieces(GgufHeader& header) {
  const std::size_t count = header.split().count;
  const std::string name = platform::path_to_utf8(file_.filename());
  const auto piece = gguf_piece_of(name);
  if (!piece || piece->count != count || piece->number != 1) {
    return {StatusCode::kInvalidModel,
            fmt::format("{}: it is piece 1 of {} ('split.count'), but its name does not end in -00001-of-{:05}.gguf",
                        header.name(), count, count)};
  }
  Json places = Json::object();
  const auto add_places = [&](const GgufHeader& of, std::size_t number) {
    const std::string own = fmt::format("model-{:05}-of-{:05}.gguf", number, count);
    for (const auto& [tensor, unused] : of.tensors())
      places[std::string(tensor)] = own;
    weights_.emplace(own, file_.parent_path() / platform::path_from_utf8(gguf_piece_name(*piece, number)));
  };
  add_places(header, 1);
  for (std::size_t number = 2; number <= count; ++number) {
    const path other = file_.parent_path() / platform::path_from_utf8(gguf_piece_name(*piece, number));
    std::error_code error;
    if (!std::filesystem::exists(other, error)) {
      return {StatusCode::kNotFound,
              fmt::format("{}: the piece {} of {} is missing", header.name(), platform::quoted(other), count)};
    }
    LB_ASSIGN_OR_RETURN(const core::FilePart part, core::FilePart::open(other));
    LB_ASSIGN_OR_RETURN(const GgufHeader next, GgufHeader::read(part, platform::path_to_utf8(other)));
    LB_RETURN_IF_ERROR(header.add_piece(next));
    add_places(next, number);
  }
  const std::uint64_t said = header.split().tensors;
  if (said != 0 && said != header.tensors().size()) {
    return {StatusCode::kInvalidModel, fmt::format("{}: 'split.tensors.count' is {}, but the pieces have {} tensors",
                                                   header.name(), said, header.tensors().size())};
  }
  Json index;
  index["weight_map"] = std::move(places);
  files_.emplace(kGgufIndexFile, core::SharedBytes::from_string(index.dump()));
  return {};
}

Result<GgufModel> GgufModel::open(const path& file) {
  LB_ASSIGN_OR_RETURN(const core::FilePart part, core::FilePart::open(file));
  LB_ASSIGN_OR_RETURN(GgufHeader header, GgufHeader::read(part, platform::path_to_utf8(file)));
  if (header.split().number != 0) {
    const std::string name = platform::path_to_utf8(file.filename());
    const auto piece = gguf_piece_of(name);
    const std::string first = piece ? gguf_piece_name(*piece, 1) : "";
    if (!piece || piece->number == 1) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}: it is piece {} of {} ('split.no'), and the first one is not found by its name",
                                header.name(), header.split().number + 1, header.split().count));
    }
    return open(file.parent_path() / platform::path_from_utf8(first));
  }
  GgufModel model;
  model.file_ = file;
  if (header.split().count == 1) {
    model.weights_.emplace(kGgufFile, file);
  } else {
    LB_RETURN_IF_ERROR(model.add_pieces(header));
  }
  auto made = describe_all(header);
  if (!made.ok()) {
    const std::string hint = made.status().code() == StatusCode::kUnsupported
                                 ? say_gguf_origin(read_gguf_origin(part.bytes.bytes).value_or(GgufOrigin()))
                                 : "";
    return Status(made.status().code(), std::string(made.status().message()) + hint);
  }
  for (auto& [name, text] : made->files)
    model.files_.emplace(name, core::SharedBytes::from_string(std::move(text)));
  model.architecture_ = header.architecture();
  model.assumed_ = std::move(made->assumed);
  model.types_ = describe_gguf_types(header);
  return model;
}

std::string GgufModel::name() const {
  const std::string name = platform::path_to_utf8(file_.filename());
  const auto piece = gguf_piece_of(name);
  return piece && weights_.size() > 1 ? std::string(piece->stem) : platform::path_to_utf8(file_.stem());
}

std::optional<path> GgufModel::weights(std::string_view relative) const {
  const auto found = weights_.find(relative);
  return found == weights_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<core::SharedBytes> GgufModel::find(std::string_view relative) const {
  const auto found = files_.find(relative);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

Status GgufModel::in_its_terms(const Status& status) const {
  Status found = status;
  for (const auto& [name, text] : files_)
    found = in_gguf_terms(found, platform::path_to_utf8(file_), name, architecture_);
  return found;
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
  std::vector<std::string> names;
  for (const path& one : found)
    names.push_back(platform::path_to_utf8(one.filename()));
  if (are_gguf_pieces(names)) return std::optional(found.front());
  constexpr std::size_t kShownMax = 24;
  names.resize(std::min(names.size(), kShownMax));
  for (std::string& name : names)
    name = core::printable(name);
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{} has {} GGUF files; name one of them as the model: {}", platform::quoted(folder),
                            found.size(), fmt::join(names, ", ")));
}

}  // namespace latebind::embedding
