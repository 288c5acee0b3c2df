#include "app/jobs/pte_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/graph/onnx_structure.h"
#include "core/platform/files/folders.h"
#include "core/text/one_line.h"
#include "formats/pte/program.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using pte::Delegate;
using pte::Dynamism;
using pte::Method;
using pte::Value;

// How many bytes of a compile spec are shown.
constexpr std::size_t kSpecShown = 80;
// The part of an OpenVINO blob that identifies it.
constexpr std::size_t kBlobHead = 512;

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The text itself, or the size if the value is not text.
std::string plain(std::span<const std::byte> value) {
  const auto text = spec_text(value);
  return text ? std::string(*text) : fmt::format("{} bytes", value.size());
}

Json to_json(const Value& value) {
  Json json;
  json["name"] = core::one_line(value.name);
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
  json["id"] = core::one_line(delegate.id);
  json["payload"] = payload_kind(delegate.payload);
  json["bytes"] = delegate.payload.size();
  json["offset"] = delegate.payload_offset;
  json["inline"] = delegate.is_inline;
  json["compile_specs"] = Json::array();
  for (const auto& spec : delegate.compile_specs)
    json["compile_specs"].push_back(Json{{"key", core::one_line(spec.key)}, {"value", plain(spec.value)}});
  return json;
}

}  // namespace

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

std::optional<std::string_view> spec_text(std::span<const std::byte> value) {
  std::string_view text = view_of(value);
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  const bool is_text =
      text.size() <= kSpecShown && std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
  return is_text ? std::optional(text) : std::nullopt;
}

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
  return graph::check_onnx_structure(payload).ok() ? "onnx" : "unknown";
}

bool is_pte(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  std::array<char, 16> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());
  return pte::looks_like_program(std::as_bytes(std::span(head)));
}

Result<PteFile> open_pte(const std::filesystem::path& place) {
  LB_ASSIGN_OR_RETURN(auto mapped, platform::MappedFile::open(place));
  auto file = std::make_shared<const platform::MappedFile>(std::move(mapped));
  auto program = pte::read_program(file->bytes());
  if (!program.ok()) return program.status().with_context(platform::path_to_utf8(place));
  return PteFile{std::move(file), *std::move(program)};
}

const Delegate* PteFile::with_bundle() const {
  for (const Method& method : program.methods) {
    for (const Delegate& delegate : method.delegates) {
      if (payload_kind(delegate.payload) == "bundle") return &delegate;
    }
  }
  return nullptr;
}

Result<std::optional<core::PackageFiles>> PteFile::bundle() const {
  const Delegate* delegate = with_bundle();
  if (delegate == nullptr) return std::optional<core::PackageFiles>();
  LB_ASSIGN_OR_RETURN(
      auto files, core::PackageFiles::from_zip({file, delegate->payload},
                                               fmt::format("the bundle in {}", platform::path_to_utf8(file->file()))));
  return std::optional(std::move(files));
}

Json to_json(const PteFile& opened) {
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
    one["name"] = core::one_line(method.name);
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

}  // namespace latebind::app
