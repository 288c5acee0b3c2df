#include "cli/inspect_pte.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/messages.h"
#include "cli/units.h"
#include "core/onnx_structure.h"
#include "core/platform/folders.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using pte::Delegate;
using pte::Dynamism;
using pte::Method;
using pte::Value;

// How much of a compile spec is shown.
constexpr std::size_t kSpecShown = 80;
// Where OpenVINO's blobs say what they are.
constexpr std::size_t kBlobHead = 512;

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view word_of(Dynamism dynamism) {
  switch (dynamism) {
    case Dynamism::kStatic:
      return "static";
    case Dynamism::kBounded:
      return "bounded";
    case Dynamism::kUnbounded:
      break;
  }
  return "unbounded";
}

bool is_row_major(const pte::Tensor& tensor) {
  for (std::size_t i = 0; i < tensor.dim_order.size(); ++i) {
    if (tensor.dim_order[i] != i) return false;
  }
  return true;
}

std::string text_of(const Value& value) {
  std::string text = value.name.empty() ? "" : one_line(value.name) + "  ";
  if (!value.tensor) return text + std::string(value.kind);
  const pte::Tensor& tensor = *value.tensor;
  std::string dims;
  for (const std::int32_t size : tensor.sizes)
    dims += fmt::format("{}{}", dims.empty() ? "" : ",", size);
  text += fmt::format("{} [{}]", pte::type_text(tensor.type), dims);
  if (tensor.dynamism == Dynamism::kBounded) text += " at most";
  if (tensor.dynamism == Dynamism::kUnbounded) text += " or any other";
  if (!is_row_major(tensor)) {
    std::string order;
    for (const std::uint8_t dim : tensor.dim_order)
      order += fmt::format("{}{}", order.empty() ? "" : ",", dim);
    text += fmt::format(", in memory as dimensions {}", order);
  }
  return text;
}

// A compile spec's value without the zeros that some exporters put behind it, or nothing for what is no short text.
std::optional<std::string_view> text_in(std::span<const std::byte> value) {
  std::string_view text = view_of(value);
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  const bool is_text =
      text.size() <= kSpecShown && std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
  return is_text ? std::optional(text) : std::nullopt;
}

// For programs: the text itself, or the size of what is none.
std::string plain(std::span<const std::byte> value) {
  const auto text = text_in(value);
  return text ? std::string(*text) : fmt::format("{} bytes", value.size());
}

// For people.
std::string shown(std::span<const std::byte> value) {
  const auto text = text_in(value);
  return text ? fmt::format("'{}'", *text) : plain(value);
}

Json to_json(const Value& value) {
  Json json;
  json["name"] = one_line(value.name);
  json["kind"] = value.kind;
  if (!value.tensor) return json;
  json["type"] = pte::type_text(value.tensor->type);
  json["sizes"] = value.tensor->sizes;
  json["dynamism"] = word_of(value.tensor->dynamism);
  json["dim_order"] = value.tensor->dim_order;
  json["planned"] = value.tensor->is_planned;
  return json;
}

Json to_json(const Delegate& delegate) {
  Json json;
  json["id"] = one_line(delegate.id);
  json["payload"] = payload_kind(delegate.payload);
  json["bytes"] = delegate.payload.size();
  json["offset"] = delegate.payload_offset;
  json["inline"] = delegate.is_inline;
  json["compile_specs"] = Json::array();
  for (const auto& spec : delegate.compile_specs)
    json["compile_specs"].push_back(Json{{"key", one_line(spec.key)}, {"value", plain(spec.value)}});
  return json;
}

}  // namespace

std::string_view payload_kind(std::span<const std::byte> payload) {
  const std::string_view text = view_of(payload);
  const std::string_view head = text.substr(0, kBlobHead);
  if (head.starts_with("PK\x03\x04")) return "bundle";
  if (head.starts_with("<?xml") || head.starts_with("<net")) return "openvino-ir";
  const bool says_openvino = head.find("meta=") != std::string_view::npos && head.find("ov=") != std::string_view::npos;
  if (says_openvino || text.substr(text.size() - std::min(kBlobHead, text.size())).find("OVNPU") != text.npos) {
    return "openvino-blob";
  }
  if (head.starts_with("\x7F"
                       "ELF"))
    return "elf";
  return core::check_onnx_structure(payload).ok() ? "onnx" : "unknown";
}

Result<OpenedPte> open_pte(const std::filesystem::path& place) {
  LB_ASSIGN_OR_RETURN(auto mapped, platform::MappedFile::open(place));
  auto file = std::make_shared<const platform::MappedFile>(std::move(mapped));
  auto program = pte::read_program(file->bytes());
  if (!program.ok()) return program.status().with_context(platform::path_to_utf8(place));
  return OpenedPte{std::move(file), *std::move(program)};
}

Result<std::optional<core::PackageFiles>> OpenedPte::bundle() const {
  for (const Method& method : program.methods) {
    for (const Delegate& delegate : method.delegates) {
      if (payload_kind(delegate.payload) != "bundle") continue;
      LB_ASSIGN_OR_RETURN(auto files, core::PackageFiles::from_zip(
                                          {file, delegate.payload},
                                          fmt::format("the bundle in {}", platform::path_to_utf8(file->file()))));
      return std::optional(std::move(files));
    }
  }
  return std::optional<core::PackageFiles>();
}

std::string text_of(const OpenedPte& opened) {
  const pte::Program& program = opened.program;
  std::uint64_t in_segments = 0;
  for (const pte::Segment& segment : program.segments)
    in_segments += segment.size;
  std::string text = fmt::format("a program of ExecuTorch: {:.1f} MiB, {:.1f} of them in segments\n",
                                 mebibytes(opened.file->bytes().size()), mebibytes(in_segments));
  for (const Method& method : program.methods) {
    text += fmt::format("\nmethod {}\n", one_line(method.name));
    for (const Value& value : method.inputs)
      text += fmt::format("  input     {}\n", text_of(value));
    for (const Value& value : method.outputs)
      text += fmt::format("  output    {}\n", text_of(value));
    std::int64_t planned = 0;
    for (const std::int64_t bytes : method.planned_bytes)
      planned += bytes > 0 && planned <= INT64_MAX - bytes ? bytes : 0;
    text += fmt::format("  memory    {} bytes planned\n  calls     {} of delegates, {} of kernels, {} others\n",
                        planned, method.delegate_calls, method.kernel_calls, method.other_instructions);
    for (const Delegate& delegate : method.delegates) {
      text += fmt::format("  delegate  {}: {}, {:.1f} MiB {}\n", one_line(delegate.id), payload_kind(delegate.payload),
                          mebibytes(delegate.payload.size()),
                          delegate.is_inline ? "in the flatbuffer" : fmt::format("in segment {}", delegate.index));
      for (const auto& spec : delegate.compile_specs)
        text += fmt::format("            {} = {}\n", one_line(spec.key), shown(spec.value));
    }
  }
  if (!program.named_data.empty()) text += fmt::format("\n{} pieces of named data\n", program.named_data.size());
  return text;
}

Json to_json(const OpenedPte& opened) {
  const pte::Program& program = opened.program;
  Json json;
  json["form"] = "pte";
  json["bytes"] = opened.file->bytes().size();
  json["version"] = program.version;
  json["constants"] = program.constants;
  json["named_data"] = program.named_data.size();
  json["segments"] = Json::array();
  for (const pte::Segment& segment : program.segments)
    json["segments"].push_back(Json{{"offset", segment.offset}, {"bytes", segment.size}});
  json["methods"] = Json::array();
  for (const Method& method : program.methods) {
    Json one;
    one["name"] = one_line(method.name);
    for (const auto& [key, values] : {std::pair{"inputs", &method.inputs}, std::pair{"outputs", &method.outputs}}) {
      one[key] = Json::array();
      for (const Value& value : *values)
        one[key].push_back(to_json(value));
    }
    one["planned_bytes"] = method.planned_bytes;
    one["delegate_calls"] = method.delegate_calls;
    one["kernel_calls"] = method.kernel_calls;
    one["other_instructions"] = method.other_instructions;
    one["delegates"] = Json::array();
    for (const Delegate& delegate : method.delegates)
      one["delegates"].push_back(to_json(delegate));
    json["methods"].push_back(std::move(one));
  }
  return json;
}

}  // namespace latebind::cli
