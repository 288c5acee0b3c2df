#include "embedding/weights/gguf/gguf_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/text/quote.h"
#include "embedding/weights/gguf/converted_tensors.h"
#include "embedding/weights/gguf/types.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

std::string name_of_gguf_type(std::uint32_t number) {
  const GgufType* const type = find_gguf_type(number);
  return type != nullptr ? std::string(type->name) : fmt::format("number {}", number);
}

// A tensor that keeps its name must not take one that another tensor gets.
constexpr std::string_view kUnused = "gguf:";
std::string unused_name(std::string_view tensor) {
  return fmt::format("{}{}", kUnused, tensor);
}

}  // namespace

Result<GgufFile> GgufFile::from_part(core::FilePart part, std::string name, const core::FilePart* first) {
  GgufFile file;
  file.name_ = std::move(name);
  file.part_ = std::move(part);
  LB_ASSIGN_OR_RETURN(const GgufHeader header, GgufHeader::read(file.part_, file.name_));
  if (header.split().number == 0) {
    LB_ASSIGN_OR_RETURN(const GgufNames names, GgufNames::of(header));
    LB_RETURN_IF_ERROR(file.take(header, names));
    return file;
  }
  if (first == nullptr) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: it is piece {} of {}, and is not read without the first one", file.name_,
                              header.split().number + 1, header.split().count));
  }
  LB_ASSIGN_OR_RETURN(const GgufHeader beginning, GgufHeader::read(*first, file.name_));
  LB_ASSIGN_OR_RETURN(const GgufNames names, GgufNames::of(beginning));
  LB_RETURN_IF_ERROR(file.take(header, names));
  return file;
}

Status GgufFile::take(const GgufHeader& header, const GgufNames& names) {
  name_in_file_ = [names](std::string_view name) {
    return name.starts_with(kUnused) ? std::string(name.substr(kUnused.size())) : names.name_in_file(name);
  };
  sizes_from_ = "the metadata";
  std::vector<ConvertedTensor> converted;
  std::uint64_t size = 0;
  for (const auto& [stored_name, tensor] : header.tensors()) {
    const auto renamed = names.rename(stored_name);
    Entry entry{.type = "F32", .shape = tensor.shape};
    if (renamed && renamed->is_matrix && entry.shape.size() == 1) entry.shape.insert(entry.shape.begin(), 1);
    const std::string name = renamed ? renamed->name : unused_name(stored_name);
    const GgufType* const type = find_gguf_type(tensor.type);
    const bool is_read = type != nullptr && type->dequantize != nullptr;
    const bool is_changed = renamed && (renamed->interleaved_heads != 0 || renamed->added != 0);
    if (!is_read) {
      entry.refusal = fmt::format("has the type {}; of GGUF, {} are supported", name_of_gguf_type(tensor.type),
                                  fmt::join(gguf_types_read(), ", "));
    } else if (type->elements == 1 && !is_changed) {
      entry.type = type->name;
      entry.begin = tensor.offset;
      entry.end = tensor.offset + tensor.size;
    } else if (tensor.size > 0) {
      const auto columns =
          static_cast<std::uint64_t>(renamed && renamed->interleaved_heads != 0 && !renamed->is_matrix ? 1
                                     : entry.shape.empty()                                             ? 1
                                                           : entry.shape.back());
      const std::uint64_t elements = tensor.size / type->bytes * type->elements;
      ConvertedTensor one{.type = type,
                          .offset = tensor.offset,
                          .rows = elements / columns,
                          .columns = columns,
                          .interleaved_heads = renamed ? renamed->interleaved_heads : 0,
                          .subtracted = renamed ? renamed->added : 0.0F,
                          .begin = size};
      if (one.interleaved_heads != 0 && one.rows % (2 * one.interleaved_heads) != 0) {
        return {StatusCode::kInvalidModel,
                fmt::format("{} has {} rows, which is no multiple of two for each of {} heads",
                            place_of_tensor(name_, stored_name), one.rows, one.interleaved_heads)};
      }
      if (columns % type->elements != 0) {
        return {StatusCode::kInvalidModel,
                fmt::format("{} has the type {}", place_of_tensor(name_, stored_name), type->name)};
      }
      entry.copied = true;
      entry.begin = size;
      size += elements * sizeof(float);
      entry.end = size;
      converted.push_back(one);
    }
    if (!entries_.emplace(name, std::move(entry)).second) {
      return {StatusCode::kInvalidModel, fmt::format("{} occurs twice", place_of_tensor(name_, stored_name))};
    }
  }
  if (converted.empty()) return {};
  if (size > std::numeric_limits<std::size_t>::max() / 2) {
    return {StatusCode::kUnsupported, fmt::format("{}: its tensors have {} bytes as f32", name_, size)};
  }
  copies_ = core::FilePart::of(
      std::make_shared<const ConvertedTensors>(part_, std::move(converted), static_cast<std::size_t>(size)));
  return {};
}

std::string describe_gguf_types(const GgufHeader& header) {
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (const auto& [name, tensor] : header.tensors()) {
    if (tensor.shape.size() > 1) bytes[tensor.type] += tensor.size;
  }
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [type, count] : bytes)
    sorted.emplace_back(count, name_of_gguf_type(type));
  std::ranges::sort(sorted, std::greater<>());
  std::vector<std::string> types;
  for (auto& [count, name] : sorted)
    types.push_back(std::move(name));
  return fmt::format("{}", fmt::join(types, ", "));
}

}  // namespace latebind::embedding
