#include "backends/pjrt/backend.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/pjrt/blob.h"
#include "backends/pjrt/executable.h"
#include "backends/pjrt/plugins.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::pjrt {
namespace {

using core::Blob;
using core::BlobLabel;
using core::CompileOptions;
using core::Executable;
using core::Precision;
using core::Result;
using core::Status;
using core::StatusCode;

// While one run computes, the inputs of another one go up.
constexpr unsigned kRequests = 2;

// An option that is silently ignored would go unnoticed, so it is refused.
Status check(const CompileOptions& options, const PluginDevice& device) {
  LB_RETURN_IF_ERROR(core::check_counts(options));
  LB_RETURN_IF_ERROR(element_for(options.precision).status());
  if (options.threads != 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("pjrt:{} chooses its threads itself; {} were requested", device.name, options.threads));
  }
  if (!options.properties.empty()) {
    return Status(StatusCode::kUnsupported, fmt::format("pjrt has no property {}; it has no properties",
                                                        core::quoted(options.properties.begin()->first)));
  }
  return {};
}

BlobOrigin origin_of(const PluginDevice& device, Precision precision) {
  const Client& client = *device.plugin.client;
  return {.plugin_digest = client.api().digest(),
          .platform = client.platform(),
          .device_kind = client.devices()[device.number].kind,
          .precision = precision};
}

// The origin as a label has it, so that a blob is judged before its bytes are read.
std::string compatibility_of(const BlobOrigin& origin) {
  return fmt::format("{} on {} with the plug-in {}", origin.platform, origin.device_kind, origin.plugin_digest);
}

Status incompatible(std::string_view blob, std::string_view here) {
  return Status(StatusCode::kIncompatibleBlob,
                fmt::format("the blob was compiled for {}; here is {}: compile it again", blob, here));
}

// Devices of one plug-in and kind run each other's blobs.
Status check_label(const BlobLabel& label, const PluginDevice& device, Precision precision) {
  if (label.backend != kBackendName) return incompatible(label.backend, kBackendName);
  const auto platform = [](std::string_view name) { return name.substr(0, name.find('.')); };
  if (platform(label.device) != platform(device.name)) return incompatible(label.device, device.name);
  const std::string version = version_of(*device.plugin.client);
  if (label.runtime_version != version) return incompatible(label.runtime_version, version);
  if (label.precision != precision) return incompatible(core::word_of(label.precision), core::word_of(precision));
  // The compile cache keeps no such text: then the blob itself tells.
  const std::string here = compatibility_of(origin_of(device, precision));
  return label.compatibility.empty() || label.compatibility == here ? Status()
                                                                    : incompatible(label.compatibility, here);
}

core::ActiveConfig active_of(const PluginDevice& device, const CompileOptions& options, Precision precision) {
  core::ActiveConfig active;
  active.backend = kBackendName;
  active.device = device.name;
  active.device_full_name = full_name_of(device);
  active.runtime_version = version_of(*device.plugin.client);
  active.library_file = platform::path_to_utf8(device.plugin.client->api().file());
  active.precision = precision;
  active.requests = options.requests != 0 ? options.requests : kRequests;
  return active;
}

// Completes `loaded`, which the executable shares.
Result<std::unique_ptr<Executable>> executable_of(const PluginDevice& device,
                                                  const std::shared_ptr<LoadedProgram>& loaded,
                                                  core::ActiveConfig active) {
  const Client& client = *device.plugin.client;
  LB_ASSIGN_OR_RETURN(const std::size_t results, client.result_count(loaded->program));
  if (results != loaded->outputs.size()) {
    return Status(StatusCode::kDeviceFailed,
                  fmt::format("the compiled program has {} results instead of {}", results, loaded->outputs.size()));
  }
  loaded->client = device.plugin.client;
  loaded->device = device.number;
  return std::unique_ptr<Executable>(std::make_unique<PjrtExecutable>(loaded, std::move(active)));
}

// A compiled program with what its blob needs.
struct Compiled {
  Network network;
  OwnedProgram program;
};

Result<Compiled> compile_network(const core::Model& model, const PluginDevice& device, const CompileOptions& options) {
  LB_RETURN_IF_ERROR(check(options, device));
  if (model.graph() == nullptr) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("pjrt computes from graphs, and {} is not one", core::quoted(model.name())));
  }
  LB_RETURN_IF_ERROR(model.check_forms());
  LB_RETURN_IF_ERROR(model.check_bytes());
  Compiled compiled;
  LB_ASSIGN_OR_RETURN(compiled.network, write_network(*model.graph()->graph, options.input_shapes, options.precision));
  LB_ASSIGN_OR_RETURN(compiled.program, device.plugin.client->compile(compiled.network.text));
  return compiled;
}

Result<Blob> blob_of(const Network& network, const graph::Graph& graph, const OwnedProgram& compiled,
                     const PluginDevice& device, Precision precision) {
  LB_ASSIGN_OR_RETURN(const std::string program, device.plugin.client->serialize(compiled));
  BlobContent content{.origin = origin_of(device, precision), .inputs = network.inputs, .outputs = network.outputs};
  content.program = std::as_bytes(std::span(program));
  std::vector<std::vector<std::byte>> kept(network.constants.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const NetworkConstant& constant = network.constants[i];
    content.constants.push_back(
        {.dims = constant.dims, .element = constant.element, .bytes = bytes_of(constant, graph, kept[i])});
  }
  Blob blob;
  blob.backend = kBackendName;
  blob.device = device.name;
  blob.runtime_version = version_of(*device.plugin.client);
  blob.precision = precision;
  blob.compatibility = compatibility_of(content.origin);
  blob.bytes = core::SharedBytes::from_string(write_blob(content));
  blob.is_copied = true;  // to the device
  return blob;
}

class PjrtBackend final : public core::Backend, public core::Blobs {
 public:
  explicit PjrtBackend(std::string_view paths) : plugins_(paths) {}

  [[nodiscard]] std::string_view name() const override { return kBackendName; }
  [[nodiscard]] Status available() override { return plugins_.devices().status(); }
  [[nodiscard]] core::Capabilities capabilities() override { return {.blobs = this}; }

  [[nodiscard]] Result<std::string> runtime_version() override {
    LB_ASSIGN_OR_RETURN(const auto devices, plugins_.devices());
    return version_of(*devices.front().plugin.client);
  }

  [[nodiscard]] Result<std::vector<core::Device>> devices() override {
    LB_ASSIGN_OR_RETURN(const auto found, plugins_.devices());
    std::vector<core::Device> devices;
    for (const PluginDevice& one : found) {
      const Client& client = *one.plugin.client;
      core::Device device;
      device.backend = kBackendName;
      device.name = one.name;
      device.kind = kind_of(client);
      device.full_name = full_name_of(one);
      device.runtime_version = version_of(client);
      device.traits.precisions = {Precision::kF32, Precision::kBF16, Precision::kF16};
      device.traits.graphs_only = true;
      device.traits.static_shapes = true;
      device.metadata["PjrtPlugin"] = platform::path_to_utf8(client.api().file());
      device.metadata["PjrtPluginDigest"] = client.api().digest();
      device.metadata["PjrtKind"] = client.devices()[one.number].kind;
      devices.push_back(std::move(device));
    }
    return devices;
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const core::Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(core::LoadedModel loaded, load_exporting(model, device, options));
    return std::move(loaded.executable);
  }

  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<core::Device>>* /*devices*/) override {
    core::BackendDiagnosis diagnosis{.install_hint =
                                         "a Python package with a PJRT plug-in, such as jax-cuda13-pjrt or "
                                         "libtpu; then set plugin.pjrt.plugins to its library"};
    diagnosis.search = plugins_.search();
    diagnosis.unavailable = plugins_.unavailable();
    return diagnosis;
  }

  [[nodiscard]] Result<core::LoadedModel> load_exporting(const core::Model& model, std::string_view name,
                                                         const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const PluginDevice device, plugins_.device(name));
    LB_ASSIGN_OR_RETURN(Compiled compiled, compile_network(model, device, options));
    const Precision precision = options.precision;
    const auto network = std::make_shared<const Network>(std::move(compiled.network));
    const auto graph = model.graph()->graph;
    const auto loaded = std::make_shared<LoadedProgram>(
        LoadedProgram{.program = std::move(compiled.program), .inputs = network->inputs, .outputs = network->outputs});
    for (const NetworkConstant& constant : network->constants) {
      std::vector<std::byte> kept;
      const std::span<const std::byte> bytes = bytes_of(constant, *graph, kept);
      LB_ASSIGN_OR_RETURN(SharedBuffer buffer,
                          device.plugin.constants->get(device.number, constant.element, constant.dims, bytes));
      loaded->constants.push_back(std::move(buffer));
    }
    core::LoadedModel made;
    LB_ASSIGN_OR_RETURN(made.executable, executable_of(device, loaded, active_of(device, options, precision)));
    made.export_blob = [network, graph, loaded, device, precision] {
      return blob_of(*network, *graph, loaded->program, device, precision);
    };
    return made;
  }

  [[nodiscard]] Result<Blob> compile(const core::Model& model, std::string_view name, const CompileOptions& options,
                                     core::LeftNodes& /*left*/) override {
    LB_ASSIGN_OR_RETURN(const PluginDevice device, plugins_.device(name));
    LB_ASSIGN_OR_RETURN(const Compiled compiled, compile_network(model, device, options));
    return blob_of(compiled.network, *model.graph()->graph, compiled.program, device, options.precision);
  }

  [[nodiscard]] Status check(const BlobLabel& label, std::string_view name, const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const PluginDevice device, plugins_.device(name));
    return check_label(label, device, options.precision);
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load_blob(const Blob& blob, std::string_view name,
                                                              const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const PluginDevice device, plugins_.device(name));
    LB_RETURN_IF_ERROR(pjrt::check(options, device));
    const Precision precision = options.precision;
    LB_RETURN_IF_ERROR(check_label(blob, device, precision));
    LB_ASSIGN_OR_RETURN(BlobContent content, read_blob(blob.bytes.bytes));
    const BlobOrigin here = origin_of(device, precision);
    if (content.origin != here) {
      return incompatible(
          fmt::format("{} in {}", compatibility_of(content.origin), core::word_of(content.origin.precision)),
          fmt::format("{} in {}", compatibility_of(here), core::word_of(precision)));
    }
    LB_RETURN_IF_ERROR(check_shapes(content.inputs, options.input_shapes));
    const auto loaded = std::make_shared<LoadedProgram>(
        LoadedProgram{.inputs = std::move(content.inputs), .outputs = std::move(content.outputs)});
    LB_ASSIGN_OR_RETURN(loaded->program, device.plugin.client->load(content.program));
    for (const BlobConstant& constant : content.constants) {
      LB_ASSIGN_OR_RETURN(SharedBuffer buffer,
                          device.plugin.constants->get(device.number, constant.element, constant.dims, constant.bytes));
      loaded->constants.push_back(std::move(buffer));
    }
    core::ActiveConfig active = active_of(device, options, precision);
    active.from_cache = true;
    return executable_of(device, loaded, std::move(active));
  }

 private:
  static Status check_shapes(const std::vector<NetworkInput>& inputs, const std::vector<core::Shape>& wanted) {
    if (wanted.empty()) return {};
    bool is_same = wanted.size() == inputs.size();
    for (std::size_t i = 0; is_same && i < inputs.size(); ++i)
      is_same = inputs[i].info.shape == wanted[i];
    return is_same ? Status() : Status(StatusCode::kIncompatibleBlob, "the blob was compiled for other shapes");
  }

  Plugins plugins_;
};

}  // namespace

std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts) {
  return std::make_shared<PjrtBackend>(core::text_of(texts, kSettings[0].key));
}

}  // namespace latebind::pjrt
