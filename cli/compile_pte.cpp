#include "cli/compile_pte.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "cli/parser.h"
#include "cli/pte_bridge.h"
#include "cli/pte_signature.h"
#include "core/config.h"
#include "core/platform/folders.h"
#include "core/platform/mapped_file.h"
#include "hosts/executorch/pte/converter.h"
#include "hosts/executorch/pte/program.h"
#include "hosts/executorch/pte/reader.h"
#include "hosts/executorch/pte/writer.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kPrecision = "precision";
// What the delegate understands.
constexpr std::array<std::string_view, 6> kSpecKeys{"device", kPrecision, "strict", "threads", "shapes", "config"};

Result<std::vector<pte::CompileSpec>> specs_of(const PteOptions& options) {
  std::vector<pte::CompileSpec> specs;
  for (const std::string& text : options.compile_specs) {
    const auto equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("--compile-spec: '{}' must be KEY=VALUE, as in device=npu,cpu", text));
    }
    if (std::ranges::find(kSpecKeys, key) == kSpecKeys.end()) {
      return core::unknown_word_error("compile spec", key, kSpecKeys);
    }
    if (std::ranges::any_of(specs, [&](const auto& other) { return other.key == key; })) {
      return Status(StatusCode::kInvalidArgument, fmt::format("--compile-spec: {} is given twice", key));
    }
    specs.push_back({key, text.substr(equals + 1)});
  }
  return specs;
}

}  // namespace

void PteOptions::add_to(CLI::App& app) {
  add_texts(
      app, "--max-shape", max_shapes, "NAME=SHAPE",
      "For --format pte: the largest shape of an input that the model leaves open, as ids=8x256, and of an output "
      "whose size depends on what is in the inputs. May be given several times. A model that embeds text has one "
      "unless it is given: 8 texts of as many tokens as it takes.");
  add_texts(app, "--compile-spec", compile_specs, "KEY=VALUE",
            "For --format pte: what the program tells the delegate: device, precision, strict, threads, shapes or "
            "config. May be given several times. precision is that of --precision, if that is given.");
  app.add_flag("--plan-inputs", plan_inputs,
               "For --format pte: inputs get a place in the method's own memory, and ExecuTorch copies them there; "
               "otherwise it passes the caller's memory on.");
  add_text(
      app, "--model", model, "MODEL",
      "For --format pte where MODEL is a program that ExecuTorch made for its own OpenVINO backend: the model that "
      "replaces what is in it. Without it, its blob stays and is run as it is.");
}

std::string PteOptions::given() const {
  if (!max_shapes.empty()) return "--max-shape";
  if (!compile_specs.empty()) return "--compile-spec";
  if (plan_inputs) return "--plan-inputs";
  return model.empty() ? "" : "--model";
}

bool is_pte(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  std::array<char, 16> head{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), head.size());
  return pte::looks_like_program(std::as_bytes(std::span(head)));
}

Status check_pte_options(const PteOptions& options) {
  if (!pte::is_built_in()) return from_pte(pte::read_program({}).status());
  return specs_of(options).status();
}

Status write_pte(const std::filesystem::path& place, const PteOptions& options, const CompileInput& input,
                 const Runtime& runtime, const core::PackageWriter& bundle) {
  LB_ASSIGN_OR_RETURN(const PteSignature signature, pte_signature(input, runtime, options.max_shapes));
  pte::ProgramSpec spec;
  spec.inputs = signature.inputs;
  spec.outputs = signature.outputs;
  spec.plan_inputs = options.plan_inputs;
  LB_ASSIGN_OR_RETURN(spec.compile_specs, specs_of(options));
  const bool has_precision =
      std::ranges::any_of(spec.compile_specs, [](const auto& one) { return one.key == kPrecision; });
  if (runtime.precision_given && !has_precision) {
    spec.compile_specs.push_back({kPrecision, std::string(core::word_of(runtime.load.compile.precision))});
  }
  LB_ASSIGN_OR_RETURN(const core::ZipImage image, bundle.zip());
  return write_through(place, [&](const pte::Sink& sink) { return pte::write_program(spec, payload_of(image), sink); });
}

Status convert_pte(const std::filesystem::path& place, const std::filesystem::path& old,
                   const PteReplacement* replacement) {
  LB_ASSIGN_OR_RETURN(const auto mapped, platform::MappedFile::open(old));
  const std::string name = platform::path_to_utf8(old);
  pte::Conversion conversion;
  const auto found = pte::inspect_conversion(mapped.bytes(), conversion);
  if (!found.ok()) return from_pte(found.status()).with_context(name);
  std::optional<core::ZipImage> image;
  if (replacement != nullptr) {
    LB_ASSIGN_OR_RETURN(const std::size_t tensors, tensor_count(replacement->input, replacement->runtime));
    if (found->arguments != tensors) {
      return {
          StatusCode::kCountMismatch,
          fmt::format("{}: its delegate is called with {} tensors, and the model of --model has {} inputs and outputs",
                      name, found->arguments, tensors)};
    }
    LB_ASSIGN_OR_RETURN(image, replacement->bundle.zip());
    conversion.payload = payload_of(*image);
  }
  Status status = write_through(
      place, [&](const pte::Sink& sink) { return pte::convert_program(mapped.bytes(), conversion, sink); });
  return status.code() == StatusCode::kUnsupported ? status.with_context(name) : status;
}

}  // namespace latebind::cli
