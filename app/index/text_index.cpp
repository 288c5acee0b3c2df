#include "app/index/text_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "app/json_text.h"
#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kFormat = "latebind.index";
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kDigestDigits = 64;

// Whether the numbers are in ascending order and end with `last`.
bool rises_to(std::span<const std::uint64_t> ends, std::uint64_t last) {
  return std::ranges::is_sorted(ends) && (ends.empty() ? 0 : ends.back()) == last;
}

}  // namespace

std::string IndexedBy::difference_from(const IndexedBy& other) const {
  if (digest != other.digest)
    return fmt::format("another model ({} instead of {})", core::printable(model), core::printable(other.model));
  if (dimension != other.dimension)
    return fmt::format("vectors of {} numbers instead of {}", dimension, other.dimension);
  // Those of the command line may be no UTF-8.
  for (const auto& [key, value] : options.members()) {
    const auto found = other.options.find(key);
    if (found != nullptr && *found == value) continue;
    const std::string was = found == nullptr ? "nothing" : core::printable(to_line(*found));
    return fmt::format("{} {} instead of {}", key, core::printable(to_line(value)), was);
  }
  return options.size() == other.options.size() ? "" : "fewer options";
}

Result<TextIndex> TextIndex::open(const std::filesystem::path& file) {
  auto tensors = embedding::Safetensors::open(file);
  if (!tensors.ok()) {
    if (tensors.status().code() != StatusCode::kInvalidModel) return tensors.status();
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} is not an index, or is damaged: name another file, or remove it and run this again ({})",
                    core::quoted(platform::path_to_utf8(file)), tensors.status().message()));
  }
  return of(*std::move(tensors));
}

Result<TextIndex> TextIndex::from_bytes(std::span<const std::byte> bytes, const std::string& name) {
  LB_ASSIGN_OR_RETURN(auto tensors, embedding::Safetensors::from_bytes(bytes, name));
  return of(std::move(tensors));
}

Result<TextIndex> TextIndex::of(embedding::Safetensors tensors) {
  TextIndex index(std::move(tensors));
  LB_RETURN_IF_ERROR(index.read_description());
  LB_RETURN_IF_ERROR(index.read_files());
  LB_RETURN_IF_ERROR(index.read_texts());
  return index;
}

Status TextIndex::damaged(std::string_view what) const {
  return Status(StatusCode::kInvalidModel, fmt::format("the index {} is damaged: {}; remove it, and it is built again",
                                                       core::quoted(tensors_.name()), what));
}

template <class T>
Result<std::span<const T>> TextIndex::tensor(std::string_view name, std::string_view type,
                                             std::initializer_list<std::size_t> shape) const {
  const auto found = tensors_.stored(name);
  if (!found) return damaged(fmt::format("it has no '{}'", name));
  if (found->type != type) return damaged(fmt::format("'{}' has the type {}", name, core::printable(found->type)));
  const auto stored = tensors_.shape_of(name);
  if (!std::ranges::equal(*stored, shape,
                          [](std::int64_t one, std::size_t wanted) { return std::cmp_equal(one, wanted); })) {
    return damaged(fmt::format("'{}' does not have the expected shape", name));
  }
  // The numbers are used in place.
  if (reinterpret_cast<std::uintptr_t>(found->bytes.data()) % alignof(T) != 0)
    return damaged(fmt::format("'{}' does not begin at a multiple of {} bytes", name, alignof(T)));
  return std::span(reinterpret_cast<const T*>(found->bytes.data()), found->bytes.size() / sizeof(T));
}

Result<std::size_t> TextIndex::length_of(std::string_view name, std::size_t most) const {
  const auto shape = tensors_.shape_of(name);
  if (!shape || shape->empty()) return damaged(fmt::format("it has no '{}'", name));
  if (std::cmp_greater(shape->front(), most)) return damaged(fmt::format("'{}' is longer than {}", name, most));
  return static_cast<std::size_t>(shape->front());
}

Status TextIndex::read_description() {
  const auto found = tensors_.stored("description");
  const auto not_ours = [&] {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is a safetensors file, but not an index: name another file for the index",
                              core::quoted(tensors_.name())));
  };
  if (!found || found->type != "U8" || found->bytes.size() > kIndexDescriptionMax) return not_ours();
  const std::string_view text(reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size());
  const auto json = core::parse_json(text, tensors_.name(), {.bytes_max = kIndexDescriptionMax, .depth_max = 4});
  if (!json.ok() || !json->is_object()) return not_ours();
  const auto* const format = core::find_member(*json, "format");
  if (format == nullptr || *format != kFormat) return not_ours();
  LB_ASSIGN_OR_RETURN(const auto version, core::read_size(*json, "version", 1, std::size_t{1} << 30, tensors_.name()));
  if (!version) return damaged("its description has no 'version'");
  if (*version != kIndexVersion) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the index {} has version {} of the format, but this program reads version {}: use the "
                              "latebind that wrote it, or remove it, and it is built again",
                              core::quoted(tensors_.name()), *version, kIndexVersion));
  }
  LB_ASSIGN_OR_RETURN(made_by_.model, core::read_text(*json, "model", "", tensors_.name()));
  LB_ASSIGN_OR_RETURN(made_by_.digest, core::read_text(*json, "model_sha256", "", tensors_.name()));
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (made_by_.digest.size() != kDigestDigits || !std::ranges::all_of(made_by_.digest, is_digit))
    return damaged("'model_sha256' of its description is not a digest");
  LB_ASSIGN_OR_RETURN(const auto dimension,
                      core::read_size(*json, "dimension", 1, kIndexDimensionMax, tensors_.name()));
  if (!dimension) return damaged("its description has no 'dimension'");
  made_by_.dimension = *dimension;
  const auto* const options = core::find_member(*json, "options");
  if (options == nullptr || !options->is_object()) return damaged("its description has no 'options'");
  for (const auto& [key, value] : options->members()) {
    if (value.is_structured()) return damaged("an option of its description is not a single value");
    made_by_.options[key] = value;
  }
  return {};
}

Status TextIndex::read_files() {
  LB_ASSIGN_OR_RETURN(const std::size_t count, length_of("files.name_ends", kIndexFilesMax));
  LB_ASSIGN_OR_RETURN(const std::size_t name_bytes, length_of("files.names", count * kIndexNameMax));
  LB_ASSIGN_OR_RETURN(const auto ends, tensor<std::uint64_t>("files.name_ends", "U64", {count}));
  LB_ASSIGN_OR_RETURN(const auto names, tensor<char>("files.names", "U8", {name_bytes}));
  LB_ASSIGN_OR_RETURN(const auto digests, tensor<char>("files.sha256", "U8", {count, kDigestBytes}));
  LB_ASSIGN_OR_RETURN(const auto sizes, tensor<std::uint64_t>("files.bytes", "U64", {count}));
  LB_ASSIGN_OR_RETURN(const auto modified, tensor<std::int64_t>("files.modified_ns", "I64", {count}));
  LB_ASSIGN_OR_RETURN(const auto changed, tensor<std::int64_t>("files.changed_ns", "I64", {count}));
  LB_ASSIGN_OR_RETURN(const auto text_ends, tensor<std::uint64_t>("files.text_ends", "U64", {count}));
  if (!rises_to(ends, names.size())) return damaged("its files' names are not contiguous");
  files_.reserve(count);
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    IndexedFile file{.name = std::string(names.data() + begin, static_cast<std::size_t>(ends[i] - begin)),
                     .sha256 = std::string(digests.data() + i * kDigestBytes, kDigestBytes),
                     .bytes = sizes[i],
                     .modified_ns = modified[i],
                     .changed_ns = changed[i]};
    begin = ends[i];
    if (file.name.empty() || file.name.size() > kIndexNameMax || file.name.find('\0') != std::string::npos ||
        core::find_invalid_utf8(file.name)) {
      return damaged(fmt::format("file {} has no usable name", i));
    }
    if (!files_.empty() && files_.back().name >= file.name) return damaged("its files are not sorted by name");
    if (file.bytes > kIndexedFileBytesMax) return damaged(fmt::format("file {} is too large", i));
    files_.push_back(std::move(file));
  }
  text_ends_.assign(text_ends.begin(), text_ends.end());
  return {};
}

Status TextIndex::read_texts() {
  LB_ASSIGN_OR_RETURN(const std::size_t count, length_of("texts.begins", kIndexTextsMax));
  LB_ASSIGN_OR_RETURN(all_.begins, tensor<std::uint64_t>("texts.begins", "U64", {count}));
  LB_ASSIGN_OR_RETURN(all_.ends, tensor<std::uint64_t>("texts.ends", "U64", {count}));
  LB_ASSIGN_OR_RETURN(all_.lines, tensor<std::uint64_t>("texts.lines", "U64", {count}));
  LB_ASSIGN_OR_RETURN(all_.vectors, tensor<float>("texts.vectors", "F32", {count, made_by_.dimension}));
  if (!rises_to(text_ends_, count)) return damaged("its files' texts are not contiguous");
  for (std::size_t file = 0; file < files_.size(); ++file) {
    const IndexedTexts texts = texts_of(file);
    std::uint64_t end = 0;
    std::uint64_t line = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts.begins[i] < end || texts.ends[i] < texts.begins[i] || texts.ends[i] > files_[file].bytes)
        return damaged(fmt::format("text {} of file {} is not within it", i, file));
      if (texts.lines[i] <= line) return damaged(fmt::format("the lines of file {} do not rise", file));
      end = texts.ends[i];
      line = texts.lines[i];
    }
  }
  return {};
}

IndexedTexts TextIndex::texts_of(std::size_t file) const {
  const auto begin = static_cast<std::size_t>(file == 0 ? 0 : text_ends_[file - 1]);
  const auto count = static_cast<std::size_t>(text_ends_[file]) - begin;
  return {.begins = all_.begins.subspan(begin, count),
          .ends = all_.ends.subspan(begin, count),
          .lines = all_.lines.subspan(begin, count),
          .vectors = all_.vectors.subspan(begin * made_by_.dimension, count * made_by_.dimension)};
}

namespace {

// Lays out tensors one after the other. The header must be complete before the first tensor is written.
class TensorList {
 public:
  void add(std::string_view name, std::string_view type, std::initializer_list<std::size_t> shape,
           std::uint64_t bytes) {
    Json& entry = header_[std::string(name)];
    entry["dtype"] = type;
    entry["shape"] = Json::array();
    for (const std::size_t dim : shape)
      entry["shape"].push_back(dim);
    entry["data_offsets"] = {bytes_, bytes_ + bytes};
    bytes_ += bytes;
  }
  // The header's length and the header, padded so that the tensors begin at a multiple of eight bytes.
  [[nodiscard]] std::string begin_of_file() const {
    std::string text = header_.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    std::string length(8, '\0');
    for (std::size_t i = 0; i < length.size(); ++i)
      length[i] = static_cast<char>(static_cast<unsigned char>(text.size() >> 8 * i));
    return length + text;
  }

 private:
  Json header_ = Json::object();
  std::uint64_t bytes_ = 0;
};

std::string description_of(const IndexedBy& by) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kIndexVersion;
  json["model"] = by.model;
  json["model_sha256"] = by.digest;
  json["dimension"] = by.dimension;
  json["options"] = by.options;
  return json.dump();
}

}  // namespace

Status write_index(const std::filesystem::path& file, const IndexedBy& by, std::span<const IndexPart> parts,
                   const std::function<void()>& release) {
  std::uint64_t texts = 0;
  std::uint64_t name_bytes = 0;
  std::vector<std::uint64_t> name_ends;
  std::vector<std::uint64_t> text_ends;
  for (const IndexPart& part : parts) {
    name_ends.push_back(name_bytes += part.file.name.size());
    text_ends.push_back(texts += part.texts.size());
  }
  const std::string description = description_of(by);
  if (parts.size() > kIndexFilesMax || texts > kIndexTextsMax || description.size() > kIndexDescriptionMax) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} files with {} texts are more than an index can hold ({} files, {} texts): use several indices",
                    parts.size(), texts, kIndexFilesMax, kIndexTextsMax));
  }
  const std::size_t files = parts.size();
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  TensorList tensors;
  // Eight-byte types come first, so that all tensors are aligned in place.
  tensors.add("files.name_ends", "U64", {files}, files * kWord);
  tensors.add("files.bytes", "U64", {files}, files * kWord);
  tensors.add("files.modified_ns", "I64", {files}, files * kWord);
  tensors.add("files.changed_ns", "I64", {files}, files * kWord);
  tensors.add("files.text_ends", "U64", {files}, files * kWord);
  tensors.add("texts.begins", "U64", {texts}, texts * kWord);
  tensors.add("texts.ends", "U64", {texts}, texts * kWord);
  tensors.add("texts.lines", "U64", {texts}, texts * kWord);
  tensors.add("texts.vectors", "F32", {texts, by.dimension}, texts * by.dimension * sizeof(float));
  tensors.add("files.sha256", "U8", {files, kDigestBytes}, files * kDigestBytes);
  tensors.add("files.names", "U8", {name_bytes}, name_bytes);
  tensors.add("description", "U8", {description.size()}, description.size());

  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(tensors.begin_of_file()));
  const auto write_each = [&](const auto& bytes_of) -> Status {
    for (const IndexPart& part : parts)
      LB_RETURN_IF_ERROR(output.write(bytes_of(part)));
    return {};
  };
  LB_RETURN_IF_ERROR(output.write(std::as_bytes(std::span(name_ends))));
  LB_RETURN_IF_ERROR(write_each([](const IndexPart& part) { return std::as_bytes(std::span(&part.file.bytes, 1)); }));
  LB_RETURN_IF_ERROR(
      write_each([](const IndexPart& part) { return std::as_bytes(std::span(&part.file.modified_ns, 1)); }));
  LB_RETURN_IF_ERROR(
      write_each([](const IndexPart& part) { return std::as_bytes(std::span(&part.file.changed_ns, 1)); }));
  LB_RETURN_IF_ERROR(output.write(std::as_bytes(std::span(text_ends))));
  LB_RETURN_IF_ERROR(write_each([](const IndexPart& part) { return std::as_bytes(part.texts.begins); }));
  LB_RETURN_IF_ERROR(write_each([](const IndexPart& part) { return std::as_bytes(part.texts.ends); }));
  LB_RETURN_IF_ERROR(write_each([](const IndexPart& part) { return std::as_bytes(part.texts.lines); }));
  LB_RETURN_IF_ERROR(write_each([](const IndexPart& part) { return std::as_bytes(part.texts.vectors); }));
  LB_RETURN_IF_ERROR(write_each([](const IndexPart& part) { return std::string_view(part.file.sha256); }));
  LB_RETURN_IF_ERROR(write_each([](const IndexPart& part) { return std::string_view(part.file.name); }));
  LB_RETURN_IF_ERROR(output.write(description));
  if (release) release();
  return output.commit();
}

}  // namespace latebind::app
