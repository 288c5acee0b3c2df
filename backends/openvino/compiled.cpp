#include "backends/openvino/compiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/openvino/blob_format.h"
#include "backends/openvino/devices.h"
#include "backends/openvino/read_model.h"
#include "core/platform/files/file_size_signal.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/page_release.h"
#include "core/platform/files/room_behind.h"
#include "core/platform/files/temporary_folder.h"
#include "core/platform/os_error.h"
#include "core/platform/system_info.h"

namespace latebind::openvino {
namespace {

using core::Blob;
using core::CompileOptions;
using core::Model;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

constexpr std::size_t kPortsMax = 4096;

// std::nullopt for a port without a name. That is no error: IR need not have names, whereas ONNX always has them.
std::optional<std::string> port_name(const Library& library, const ConstPortHandle& port) {
  char* name = nullptr;
  if (library.api.ov_port_get_any_name(port.get(), &name) != abi::kOk || name == nullptr) return std::nullopt;
  std::string text(name);
  library.api.ov_free(name);
  return text;
}

Status read_shape(const abi::PartialShape& given, TensorInfo& info, const char* what) {
  if (given.rank.min != given.rank.max) {
    return Status(StatusCode::kUnsupported, fmt::format("{} '{}' has no fixed number of dimensions", what, info.name));
  }
  if (given.rank.min < 0 || given.rank.min > static_cast<std::int64_t>(core::kRankMax)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} '{}' has {} dimensions, more than the {} that are supported", what, info.name,
                              given.rank.min, core::kRankMax));
  }
  std::array<std::int64_t, core::kRankMax> dims{};
  const auto rank = static_cast<std::size_t>(given.rank.min);
  bool bounded = false;
  std::vector<std::int64_t> upper(rank, core::kDynamic);
  for (std::size_t d = 0; d < rank; ++d) {
    const abi::Dimension& dim = given.dims[d];
    dims[d] = dim.min == dim.max ? dim.max : core::kDynamic;
    if (dim.min != dim.max && dim.max >= 0) {
      upper[d] = dim.max;
      bounded = true;
    }
  }
  LB_ASSIGN_OR_RETURN(info.shape, Shape::make({dims.data(), rank}));
  if (bounded) info.upper = std::move(upper);
  return {};
}

Result<TensorInfo> describe_port(const Library& library, const ConstPortHandle& port, const char* what,
                                 std::size_t index, bool& all_named) {
  const abi::Api& api = library.api;
  TensorInfo info;
  const auto name = port_name(library, port);
  all_named = all_named && name.has_value();
  info.name = name.value_or(fmt::format("{}_{}", what, index));
  abi::ElementCode type = 0;
  if (const auto code = api.ov_port_get_element_type(port.get(), &type); code != abi::kOk) {
    return library.error(StatusCode::kInvalidModel, fmt::format("{} '{}' does not report its type", what, info.name),
                         code);
  }
  const auto known = library.element_types.type_of(type);
  if (!known) {
    return Status(StatusCode::kUnsupported, fmt::format("{} '{}' has the element type {}, which is not supported", what,
                                                        info.name, library.element_types.name_of(type)));
  }
  info.type = *known;
  abi::PartialShape shape{};
  if (const auto code = api.ov_port_get_partial_shape(port.get(), &shape); code != abi::kOk) {
    return library.error(StatusCode::kInvalidModel, fmt::format("{} '{}' does not report its shape", what, info.name),
                         code);
  }
  const Status read = read_shape(shape, info, what);
  api.ov_partial_shape_free(&shape);
  LB_RETURN_IF_ERROR(read);
  return info;
}

using CountPorts = abi::Code (*)(const abi::CompiledModel*, std::size_t*);
using GetPort = abi::Code (*)(const abi::CompiledModel*, std::size_t, abi::ConstPort**);

Result<std::vector<TensorInfo>> describe_ports(const Library& library, const CompiledModelHandle& model,
                                               CountPorts count_ports, GetPort get_port, const char* what,
                                               bool& all_named) {
  std::size_t count = 0;
  if (const auto code = count_ports(model.get(), &count); code != abi::kOk || count > kPortsMax) {
    return library.error(StatusCode::kInvalidModel,
                         fmt::format("the compiled model does not report the number of its {}s", what), code);
  }
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < count; ++i) {
    abi::ConstPort* port = nullptr;
    if (const auto code = get_port(model.get(), i, &port); code != abi::kOk) {
      return library.error(StatusCode::kInvalidModel,
                           fmt::format("the compiled model does not describe {} {}", what, i), code);
    }
    const ConstPortHandle owned(library.api, port);
    LB_ASSIGN_OR_RETURN(auto info, describe_port(library, owned, what, i, all_named));
    infos.push_back(std::move(info));
  }
  return infos;
}

// Reads back what is active, and rejects what was not requested.
Result<std::shared_ptr<const Compiled>> finish(std::shared_ptr<const VendorCore> core, Model source,
                                               core::SharedBytes blob, CompiledModelHandle handle,
                                               const std::string& device, const CompileOptions& options,
                                               const Properties& properties) {
  const Library& library = *core->library;
  LB_ASSIGN_OR_RETURN(Active active, read_back(library, handle.get(), device, options.precision));
  bool all_named = true;
  LB_ASSIGN_OR_RETURN(auto vendor_inputs,
                      describe_ports(library, handle, library.api.ov_compiled_model_inputs_size,
                                     library.api.ov_compiled_model_input_by_index, "input", all_named));
  LB_ASSIGN_OR_RETURN(auto outputs, describe_ports(library, handle, library.api.ov_compiled_model_outputs_size,
                                                   library.api.ov_compiled_model_output_by_index, "output", all_named));
  auto packing = packing_of(vendor_inputs);
  std::vector<TensorInfo> inputs = vendor_inputs;
  if (packing) {
    inputs.clear();
    for (const std::size_t position : packing->given)
      inputs.push_back(vendor_inputs[position]);
  }
  const auto is_static = [](const TensorInfo& input) { return input.shape.is_static(); };
  // With packed tokens there are few shapes.
  if (!packing && !std::ranges::all_of(inputs, is_static)) active.kept_shapes = kept_shapes(device, properties);
  // After a failed run, whether memory ran out or the shapes did not fit together, the CPU plugin (2026.4) keeps its
  // shapes for all requests of the compiled model. A later run in shapes of an earlier one then fails with the earlier
  // error, or reads foreign memory. Runs of packed tokens are Latebind's own, and fail only if memory ends.
  std::unique_ptr<SharedRuns> shared_runs;
  if (device_base(device) == "CPU" && !std::ranges::all_of(inputs, is_static)) {
    shared_runs = std::make_unique<SharedRuns>(active.has_one_stream ? RunOrder::kOneByOne
                                               : packing             ? RunOrder::kIndependent
                                                                     : RunOrder::kStarted);
  }
  // An input that is passed through to an output is one tensor with one set of names.
  std::vector<bool> direct;
  for (const TensorInfo& output : outputs) {
    direct.push_back(all_named && output.shape.is_static() &&
                     std::ranges::find(inputs, output.name, &TensorInfo::name) == inputs.end());
  }
  return std::shared_ptr<const Compiled>(new Compiled{{},
                                                      std::move(core),
                                                      std::move(source),
                                                      std::move(blob),
                                                      std::move(handle),
                                                      device,
                                                      active,
                                                      std::move(inputs),
                                                      std::move(outputs),
                                                      std::move(direct),
                                                      std::move(vendor_inputs),
                                                      std::move(packing),
                                                      std::move(shared_runs)},
                                         [](const Compiled* compiled) {
                                           const Inside inside;
                                           delete compiled;
                                         });
}

// A compiled model that did not become a Compiled leaves threads as well.
Result<std::shared_ptr<const Compiled>> counted(Result<std::shared_ptr<const Compiled>> finished) {
  if (!finished.ok()) threads_are_left();
  return finished;
}

// Returns kInvalidArgument if the vendor rejects a property of the user.
Status set_property(const VendorCore& core, const std::string& device, const std::string& key, const std::string& value,
                    const CompileOptions& options) {
  const Library& library = *core.library;
  const auto code = library.api.ov_core_set_property(core.core.get(), device.c_str(), key.c_str(), value.c_str());
  if (code == abi::kOk) return {};
  const bool is_users = options.properties.contains(key);
  return library.error(is_users ? StatusCode::kInvalidArgument : StatusCode::kUnsupported,
                       fmt::format("openvino:{} refuses the property {}={}", device, key, value), code);
}

// Finds the user's property that the vendor rejects, in a separate core. Called only after a failure: a vendor may
// accept a property only when it compiles.
Status check_user_properties(const std::shared_ptr<const Library>& library, const std::string& device,
                             const CompileOptions& options) {
  if (options.properties.empty()) return {};
  LB_ASSIGN_OR_RETURN(const auto core, VendorCore::create(library));
  // Asking for a property loads the device's plugin, which accepts properties only from then on.
  (void)full_name_of(*core, device);
  for (const auto& [key, value] : options.properties)
    LB_RETURN_IF_ERROR(set_property(*core, device, key, value, options));
  return {};
}

// The vendor reports success for a truncated export.
Status incomplete(const Compiled& compiled, const platform::TemporaryFolder& folder, StatusCode code,
                  std::string_view found) {
  return Status(code, fmt::format("OpenVINO's export for {} in the folder for temporary files, {}, is incomplete: {}; "
                                  "or set TMPDIR (on Windows TMP) to another folder",
                                  compiled.device, platform::quoted(folder.path().parent_path()), found));
}

}  // namespace

Result<std::shared_ptr<const Compiled>> compile_model(std::shared_ptr<const VendorCore> core, const Model& model,
                                                      const std::string& device, const CompileOptions& options) {
  const Library& library = *core->library;
  LB_ASSIGN_OR_RETURN(const auto properties, properties_for(device, options, platform::usable_processors()));
  LB_RETURN_IF_ERROR(check_precision(*core, device, options.precision));
  // Packed tokens were measured on the CPU only.
  const bool may_pack_tokens = device_base(device) == "CPU" && options.input_shapes.empty();
  // Likewise: there the weights would be widened to f32 before they are packed in the type of the computation.
  const bool keeps_types = device_base(device) == "CPU" && options.precision != core::Precision::kF32;
  LB_ASSIGN_OR_RETURN(const Model readable, readable_model(model, may_pack_tokens, keeps_types));
  // The vendor reads all weights once, and then few of them again: most are repacked.
  const platform::PageRelease read_pages(weights_in_memory(readable));
  LB_ASSIGN_OR_RETURN(const ModelHandle network, read_model(*core, readable));
  LB_RETURN_IF_ERROR(reshape(library, network, options.input_shapes));

  std::array<const char*, 2 * kPropertiesMax> list{};
  for (std::size_t i = 0; i < properties.size(); ++i) {
    list[2 * i] = properties[i].first.c_str();
    list[2 * i + 1] = properties[i].second.c_str();
  }
  abi::CompiledModel* compiled = nullptr;
  // A variadic function, and a list whose length is known only at run time: all places are passed, and the count says
  // how many of them the library reads.
  const auto compile = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return library.api.ov_core_compile_model(core->core.get(), network.get(), device.c_str(), 2 * properties.size(),
                                             &compiled, list[I]...);
  };
  if (const auto code = compile(std::make_index_sequence<list.size()>()); code != abi::kOk) {
    threads_are_left();
    const Status refused =
        library.error(StatusCode::kDeviceFailed,
                      fmt::format("OpenVINO cannot compile model '{}' for {}", model.name(), device), code);
    // The vendor's text about a rejected property does not always name it.
    LB_RETURN_IF_ERROR(check_user_properties(core->library, device, options));
    return refused;
  }
  // The core is not moved: the parameters of a call that fails are destroyed in an order that the compiler chooses, and
  // the core must outlive the handle.
  return counted(finish(core, readable, {}, CompiledModelHandle(library.api, compiled), device, options, properties));
}

Result<std::shared_ptr<const Compiled>> import_blob(std::shared_ptr<const VendorCore> core, const Blob& blob,
                                                    const std::string& device, const CompileOptions& options) {
  const Library& library = *core->library;
  LB_ASSIGN_OR_RETURN(const auto properties, properties_for(device, options, platform::usable_processors()));
  LB_RETURN_IF_ERROR(check_precision(*core, device, options.precision));
  for (const auto& [key, value] : properties)
    LB_RETURN_IF_ERROR(set_property(*core, device, key, value, options));
  // The vendor reads all of the blob once, and then little of it again.
  const platform::PageRelease read_pages(blob.bytes.bytes);
  abi::CompiledModel* compiled = nullptr;
  if (const auto code =
          library.api.ov_core_import_model(core->core.get(), reinterpret_cast<const char*>(blob.bytes.bytes.data()),
                                           blob.bytes.bytes.size(), device.c_str(), &compiled);
      code != abi::kOk) {
    threads_are_left();
    return library.error(StatusCode::kIncompatibleBlob,
                         fmt::format("OpenVINO {} on {} refuses the blob", library.version, device), code);
  }
  // The core is not moved, as in compile_model().
  return counted(finish(core, Model::from_forms("blob", {}), blob.bytes, CompiledModelHandle(library.api, compiled),
                        device, options, properties));
}

Result<Blob> export_blob(const Compiled& compiled) {
  // Destroyed in reverse order: some systems cannot remove an open file.
  struct Exported {
    platform::TemporaryFolder folder;
    std::optional<platform::MappedFile> file;
  };
  LB_ASSIGN_OR_RETURN(auto folder, platform::TemporaryFolder::create("blob"));
  const auto exported = std::make_shared<Exported>(Exported{std::move(folder), std::nullopt});
  const auto path = exported->folder.path() / "blob";
  const Library& library = compiled.library();
  const platform::NoFileSizeSignal limit_is_an_error;
  if (const auto code =
          library.api.ov_compiled_model_export_model(compiled.handle.get(), platform::path_for_bytes(path).c_str());
      code != abi::kOk) {
    // The vendor's text does not name the reason.
    if (const Status room = platform::check_room_behind(path); !room.ok())
      return incomplete(compiled, exported->folder, room.code(), room.message());
    return library.error(StatusCode::kDeviceFailed,
                         fmt::format("OpenVINO cannot export the model compiled for {}", compiled.device), code);
  }
  if (const Status room = platform::check_room_behind(path); !room.ok()) {
    return incomplete(compiled, exported->folder, room.code(), room.message());
  }
  LB_ASSIGN_OR_RETURN(auto mapped, platform::MappedFile::open(path));
  exported->file.emplace(std::move(mapped));
  // Space may have been freed since then, so the file is checked as well. Unknown formats cannot be checked.
  if (looks_like_blob(exported->file->bytes())) {
    if (const Status whole = check_blob(exported->file->bytes()); !whole.ok()) {
      return incomplete(compiled, exported->folder, StatusCode::kDiskFull,
                        fmt::format("{}; free some space there", whole.message()));
    }
  }
  exported->folder.remove();
  if (exported->file->bytes().empty()) {
    return Status(StatusCode::kDeviceFailed, fmt::format("OpenVINO exported nothing for {}", compiled.device));
  }
  Blob blob{{.backend = kBackendName,
             .device = compiled.device,
             .runtime_version = library.version,
             .precision = compiled.active.precision},
            {.owner = exported, .bytes = exported->file->bytes()}};
  // The CPU uses the weights in place. An NPU's compiler copies them into the blob of each length.
  blob.is_copied = device_base(compiled.device) == "NPU";
  return blob;
}

}  // namespace latebind::openvino
