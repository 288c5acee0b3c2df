#include "app/jobs/compile_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "app/shape_text.h"
#include "core/graph/onnx_reader.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/system_info.h"
#include "core/text/quote.h"

namespace latebind::app {
namespace {

using core::CompileJob;
using core::Result;
using core::Status;
using core::StatusCode;

// Peak memory of a compilation as a multiple of the model's size. Vendors' compilers hold the model several times.
constexpr std::uint64_t kMemoryPerJob = 6;

constexpr std::int64_t kDimensionMax = 1 << 24;

// Returns the word that `shapes` consists of, or "".
std::string_view word_of_shapes(const CompileOptions& options) {
  if (options.shapes.size() != 1) return {};
  const std::string& only = options.shapes.front();
  return only == kAutoShapes || only == kStaticShapes || only == kDynamicShapes ? std::string_view(only)
                                                                                : std::string_view();
}

// By input, in order. A single shape may stand for all inputs.
using Shapes = std::vector<core::Shape>;

// Parses "1x32", or "1x32+1x8" for two inputs.
Result<Shapes> parse_shapes(const std::string& item, const Client& client) {
  Shapes shapes;
  for (std::string_view rest = item;;) {
    const auto plus = rest.find('+');
    LB_ASSIGN_OR_RETURN(shapes.emplace_back(),
                        parse_shape(client.name("shapes"), rest.substr(0, plus), 1, kDimensionMax));
    if (plus == std::string_view::npos) return shapes;
    rest.remove_prefix(plus + 1);
  }
}

// Returns the model's inputs, or std::nullopt if only a vendor can determine them.
Result<std::optional<std::vector<graph::OnnxTensor>>> declared_inputs(const core::Model& model) {
  const core::ModelForm* form = model.find(core::ModelFormat::kOnnx);
  if (form == nullptr) return std::optional<std::vector<graph::OnnxTensor>>();
  std::span<const std::byte> bytes = form->graph.bytes;
  std::optional<platform::MappedFile> mapped;
  if (!form->file.empty()) {
    LB_ASSIGN_OR_RETURN(mapped, platform::MappedFile::open(form->file));
    bytes = mapped->bytes();
  }
  LB_ASSIGN_OR_RETURN(auto signature, graph::read_onnx_signature(bytes, model.name()));
  return std::optional(std::move(signature.inputs));
}

Status misfit(std::string_view item, std::string why, const Client& client) {
  return {StatusCode::kInvalidArgument, fmt::format("{} {}: {}", client.name("shapes"), item, why)};
}

// Expands to one shape per input of an embedding model. All are texts times tokens.
Result<Shapes> for_texts(const std::string& item, const Shapes& given, const CompileInput& input,
                         const Client& client) {
  if (std::ranges::adjacent_find(given, std::not_equal_to<>()) != given.end() ||
      (given.size() > 1 && given.size() != input.inputs)) {
    return misfit(item, "all inputs of a model that embeds text have the same shape: give one, such as 1x32", client);
  }
  const core::Shape& shape = given.front();
  if (shape.rank() != 2)
    return misfit(item, "the shape of a model that embeds text is texts x tokens, such as 1x32", client);
  if (std::cmp_greater(shape[1], input.longest)) {
    return misfit(item, fmt::format("the model takes {} tokens", input.longest), client);
  }
  return Shapes(input.inputs, shape);
}

// Expands to one shape per input of any other model. The vendor checks what is unknown here.
Result<Shapes> for_inputs(const std::string& item, Shapes given,
                          const std::optional<std::vector<graph::OnnxTensor>>& declared, const Client& client) {
  if (!declared) return given;
  if (given.size() == 1) given.resize(declared->size(), given.front());
  if (given.size() != declared->size() || given.empty()) {
    return misfit(item,
                  fmt::format("the model has {} inputs; give one shape for each, separated by +", declared->size()),
                  client);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const graph::OnnxTensor& tensor = (*declared)[i];
    if (!tensor.has_shape) continue;
    LB_ASSIGN_OR_RETURN(const core::Shape shape, core::Shape::make(tensor.shape));
    if (shape.accepts(given[i])) continue;
    return misfit(item,
                  fmt::format("the input '{}' has the shape {}, which {} does not fit{}", core::printable(tensor.name),
                              shape.to_string(), given[i].to_string(),
                              given.size() > 1 ? "; to give each input its own shape, separate them by +" : ""),
                  client);
  }
  return given;
}

// The input shapes to compile for this target. Empty means as the model declares them.
Result<std::vector<Shapes>> shapes_for(const CompileOptions& options, const Settings& settings,
                                       const CompileInput& input, const core::Device& device, const Client& client) {
  const std::string_view word = word_of_shapes(options);
  std::vector<Shapes> shapes;
  if (word.empty()) {
    std::optional<std::vector<graph::OnnxTensor>> declared;
    if (!input.folder) {
      LB_ASSIGN_OR_RETURN(declared, declared_inputs(input.model));
    }
    for (const std::string& item : options.shapes) {
      LB_ASSIGN_OR_RETURN(auto given, parse_shapes(item, client));
      LB_ASSIGN_OR_RETURN(shapes.emplace_back(), input.folder ? for_texts(item, given, input, client)
                                                              : for_inputs(item, std::move(given), declared, client));
    }
  }
  // CPUs and GPUs accept texts of any length, unless they say otherwise.
  const bool any_length = input.folder && device.kind != core::DeviceKind::kNpu && !device.traits.static_shapes;
  if (word == kDynamicShapes || any_length || (word == kAutoShapes && !input.folder)) return std::vector<Shapes>(1);
  if (word.empty()) return shapes;
  if (!input.folder) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} static is for models that embed text", client.name("shapes")));
  }
  for (const std::size_t length : settings.static_lengths) {
    if (length < input.longest) shapes.emplace_back(input.inputs, core::Shape{1, static_cast<std::int64_t>(length)});
  }
  shapes.emplace_back(input.inputs, core::Shape{1, static_cast<std::int64_t>(input.longest)});
  return shapes;
}

}  // namespace

Status check_shapes(const CompileOptions& options, const Client& client) {
  if (!word_of_shapes(options).empty()) return {};
  for (const std::string& item : options.shapes) {
    const auto shapes = parse_shapes(item, client);
    if (shapes.ok()) continue;
    return {StatusCode::kInvalidArgument, fmt::format("{}; {} is auto, static, dynamic or a list such as 1x32,1x128",
                                                      shapes.status().message(), client.name("shapes"))};
  }
  return {};
}

Status plan_compile(const CompileOptions& options, const Runtime& runtime, const CompileInput& input,
                    const Client& client, CompileReport& report) {
  std::vector<CompileJob> jobs;
  const core::CompileTargets targets(runtime.registry);
  for (const std::string& text : options.targets) {
    auto target = targets.find(text);
    if (!target.ok()) {
      if (!options.keep_going) {
        report.options_are_wrong = targets.all_asked() && target.status().code() == StatusCode::kDeviceNotFound;
        return target.status();
      }
      report.refused.push_back(target.status().with_context(text));
      continue;
    }
    auto found = shapes_for(options, runtime.settings, input, target->device, client);
    if (!found.ok()) {
      report.options_are_wrong = found.status().code() == StatusCode::kInvalidArgument;
      return found.status();
    }
    const auto shapes = *std::move(found);
    for (const auto& shape : shapes) {
      CompileJob job{*target, runtime.load.compile};
      if (!runtime.precision_given) job.options.precision = core::default_precision(target->device);
      job.options.input_shapes = shape;
      const std::string name = core::variant_name(job);
      const bool twice = std::ranges::any_of(jobs, [&](const auto& other) { return variant_name(other) == name; });
      if (!twice) jobs.push_back(std::move(job));
    }
  }
  report.jobs = std::move(jobs);
  return {};
}

unsigned side_by_side(const CompileOptions& options, const CompileInput& input) {
  if (options.side_by_side != 0) return options.side_by_side;
  const std::uint64_t memory = platform::available_memory_bytes() / 2;
  const std::uint64_t one = std::max<std::uint64_t>(input.bytes * kMemoryPerJob, std::uint64_t{256} << 20);
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(memory / one, 1, std::min(platform::usable_processors(), kSideBySideMax)));
}

}  // namespace latebind::app
