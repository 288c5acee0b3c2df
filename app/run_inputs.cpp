#include "app/run_inputs.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "app/npy.h"
#include "app/shape_text.h"
#include "core/platform/files/folders.h"
#include "core/tensor/random_tensor.h"

namespace latebind::app {
namespace {

using core::ElementType;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

Result<Shape> chosen_shape(const TensorInfo& declared, const std::optional<Shape>& wanted, std::string_view option) {
  if (wanted) {
    if (!declared.shape.accepts(*wanted)) {
      return Status(StatusCode::kShapeMismatch,
                    fmt::format("{}: input '{}' has shape {}, which {} does not fit", option, declared.name,
                                declared.shape.to_string(), wanted->to_string()));
    }
    return *wanted;
  }
  Shape shape = declared.shape;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == core::kDynamic) shape[i] = 1;
  }
  return shape;
}

}  // namespace

Status check_requested_inputs(const RequestedInputs& requested) {
  for (const auto* given : {&requested.files, &requested.shapes}) {
    std::set<std::string_view> names;
    for (const std::string& one : *given) {
      if (one.find('=') == std::string::npos) {
        return {StatusCode::kInvalidArgument, fmt::format("'{}' must be NAME=VALUE, as in {} x=x.npy or {} x=1x128",
                                                          one, requested.files_option, requested.shapes_option)};
      }
      // With several '=', only the model's names tell where the name ends.
      const std::string_view name = std::string_view(one).substr(0, one.find('='));
      if (one.find('=') == one.rfind('=') && !names.insert(name).second) {
        return {StatusCode::kInvalidArgument,
                fmt::format("{}: input '{}' is given twice",
                            given == &requested.files ? requested.files_option : requested.shapes_option, name)};
      }
    }
  }
  // Names may contain '=', shapes cannot.
  for (const std::string& one : requested.shapes)
    LB_RETURN_IF_ERROR(parse_shape(requested.shapes_option, std::string_view(one).substr(one.rfind('=') + 1)).status());
  return {};
}

Result<std::vector<RunInput>> make_inputs(std::span<const TensorInfo> declared, const RequestedInputs& requested) {
  LB_ASSIGN_OR_RETURN(const auto files, match_by_name(declared, "input", requested.files_option, requested.files));
  LB_ASSIGN_OR_RETURN(const auto shapes, match_by_name(declared, "input", requested.shapes_option, requested.shapes));
  std::vector<RunInput> inputs;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    RunInput input;
    input.declared = declared[i];
    const auto file = files.find(i);
    const auto wanted = shapes.find(i);
    if (file != files.end()) {
      if (wanted != shapes.end()) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{}: input '{}' comes from a file, which determines its shape",
                                  requested.shapes_option, declared[i].name));
      }
      LB_ASSIGN_OR_RETURN(NpyArray array, read_npy(platform::path_from_utf8(file->second)));
      input.owner = std::move(array.owner);
      input.view = array.view;
      input.source = file->second;
      input.file = file->second;
      inputs.push_back(std::move(input));
      continue;
    }
    std::optional<Shape> shape;
    if (wanted != shapes.end()) {
      LB_ASSIGN_OR_RETURN(shape, parse_shape(requested.shapes_option, wanted->second));
    }
    LB_ASSIGN_OR_RETURN(input.view.shape, chosen_shape(declared[i], shape, requested.shapes_option));
    input.view.type = declared[i].type;
    LB_ASSIGN_OR_RETURN(const std::size_t size, core::byte_size_of(input.view.type, input.view.shape));
    if (size > kRandomBytesMax) {
      return Status(StatusCode::kInvalidArgument, fmt::format("input '{}' of shape {} needs {} bytes of random data, "
                                                              "which is above the limit of {} GiB; give a smaller {}",
                                                              declared[i].name, input.view.shape.to_string(), size,
                                                              kRandomBytesMax >> 30U, requested.shapes_option));
    }
    auto memory = std::make_shared<std::vector<std::uint64_t>>(size / 8 + 1);
    core::fill_random(input.view.type, requested.seed + i, std::as_writable_bytes(std::span(*memory)).first(size));
    input.view.data = memory->data();
    input.owner = std::move(memory);
    input.source = fmt::format("random, seed {}", requested.seed);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace latebind::app
