#include "hosts/onnxruntime/context_file.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "core/json/value.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/temporary_folder.h"
#include "hosts/onnxruntime/session_settings.h"

namespace latebind::provider {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCompatibilityHead = "latebind 1;";
constexpr std::size_t kContextAttributes = 7;
// Identifies the bundle of a file; the host's schema for these nodes has no attribute for that.
constexpr const char* kNotes = "notes";

platform::TemporaryFolder temporary_folder() {
  auto folder = platform::TemporaryFolder::create("context");
  require(folder.status());
  return *std::move(folder);
}

// Such as "openvino:NPU.4000@2026.4.1": equal for a virtual device and the same device in a machine, which the vendor
// names differently. A CPU's blob belongs to the machine.
std::string device_text(const Device& device) {
  const bool is_npu = device.kind == LB_DEVICE_NPU;
  std::string text = device.backend + ":" + (is_npu ? "NPU" : device.kind == LB_DEVICE_GPU ? "GPU" : "CPU");
  if (const auto found = device.metadata.find("Architecture");
      device.kind != LB_DEVICE_CPU && found != device.metadata.end() && found->second.find(' ') == std::string::npos) {
    text += "." + found->second;
  }
  return text + "@" + device.runtime_version;
}

}  // namespace

void compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                    const std::vector<std::string>& targets, const fs::path& bundle) {
  const platform::TemporaryFolder folder = temporary_folder();
  const fs::path model = folder.path() / "model.onnx";
  require(platform::write_file_unsynced(model, std::as_bytes(std::span(part.model))));
  const core::Json arguments{{"model", platform::path_to_utf8(model)},
                             {"output", platform::path_to_utf8(bundle)},
                             {"name", "model"},
                             {"strict", true},
                             {"target", targets}};
  auto job = runtime.start("compile", arguments.dump());
  if (!job.ok()) throw failure_of("Latebind: " + name, job.status());
  for (bool is_over = false; !is_over;) {
    const auto progress = job->wait(std::chrono::milliseconds(60'000));
    is_over = !progress.ok() || progress->is_over;
  }
  if (const auto result = job->result(); !result.ok()) throw failure_of("Latebind: " + name, result.status());
}

std::string compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                           const std::vector<std::string>& targets) {
  const platform::TemporaryFolder folder = temporary_folder();
  const fs::path bundle = folder.path() / "model.lbundle";
  compile_bundle(runtime, name, part, targets, bundle);
  const auto mapped = platform::MappedFile::open(bundle);
  require(mapped.status());
  const auto bytes = mapped->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string own_sdk_version() {
  return std::string("latebind ") + lb_version();
}

ContextNode read_context_node(const Host& host, const NodeView& node) {
  ContextNode read{.name = node.name,
                   .partition = text_attribute(host, node.raw, "partition_name"),
                   .inputs = {},
                   .outputs = {},
                   .sdk_version = text_attribute(host, node.raw, "ep_sdk_version"),
                   .payload = {},
                   .is_embedded = int_attribute(host, node.raw, "embed_mode", 1) != 0,
                   .identity = {}};
  for (const ValueView& input : node.inputs)
    read.inputs.push_back(input.name);
  for (const ValueView& output : node.outputs)
    read.outputs.push_back(output.name);
  if (!read.is_embedded) read.identity = parse_bundle_identity(text_attribute(host, node.raw, kNotes));
  return read;
}

abi::Node* make_context_node(const Host& host, const ContextNode& described) {
  const std::string_view payload = described.payload;
  if (host->CreateNode == nullptr) throw Failure(abi::kNotImplemented, "Latebind: this host does not write models");
  if (payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Failure(abi::kNotImplemented,
                  "Latebind: the compiled model has more than 2 GiB; set ep.context_embed_mode=0");
  }
  const auto release = [&host](abi::OpAttr* attribute) { host->ReleaseOpAttr(attribute); };
  std::vector<std::unique_ptr<abi::OpAttr, decltype(release)>> owned;
  owned.reserve(kContextAttributes);
  const auto add = [&](const char* key, const void* data, std::size_t size, abi::OpAttrType type) {
    abi::OpAttr* attribute = nullptr;
    host.check(host->CreateOpAttr(key, data, static_cast<int>(size), type, &attribute));
    Host::need(attribute, "attribute");
    owned.emplace_back(attribute, release);
  };
  const auto add_text = [&](const char* key, std::string_view text) {
    add(key, text.data(), text.size(), abi::kAttrString);
  };
  const std::int64_t embedded = described.is_embedded ? 1 : 0;
  const std::int64_t is_main = 1;
  add_text("ep_cache_context", payload);
  add("embed_mode", &embedded, 1, abi::kAttrInt);
  add("main_context", &is_main, 1, abi::kAttrInt);
  add_text("ep_sdk_version", described.sdk_version);
  add_text("partition_name", described.partition);
  add_text("source", "Latebind");
  if (!described.is_embedded) add_text(kNotes, text_of(described.identity));
  std::vector<const char*> input_names;
  for (const std::string& input : described.inputs)
    input_names.push_back(input.c_str());
  std::vector<const char*> output_names;
  for (const std::string& output : described.outputs)
    output_names.push_back(output.c_str());
  std::vector<abi::OpAttr*> attributes;
  attributes.reserve(owned.size());
  // The node takes over some attributes and replaces them by null.
  for (auto& attribute : owned)
    attributes.push_back(attribute.release());
  abi::Node* node = nullptr;
  abi::Status* failed =
      host->CreateNode("EPContext", "com.microsoft", described.name.c_str(), input_names.data(), input_names.size(),
                       output_names.data(), output_names.size(), attributes.data(), attributes.size(), &node);
  for (abi::OpAttr* attribute : attributes)
    if (attribute != nullptr) host->ReleaseOpAttr(attribute);
  host.check(failed);
  return Host::need(node, "node");
}

std::string compatibility_text(const std::vector<Device>& targets) {
  std::string devices;
  for (const Device& device : targets)
    devices += (devices.empty() ? "" : ",") + device_text(device);
  return std::string(kCompatibilityHead) + " devices=" + devices + "; portable=1";
}

abi::Compatibility compatibility_of(const Runtime& runtime, const std::string& text,
                                    const std::vector<std::int32_t>& kinds,
                                    const std::vector<Device>& virtual_devices) {
  if (!text.starts_with(kCompatibilityHead)) return abi::kNotApplicable;
  const std::string begin = "devices=";
  const auto at = text.find(begin);
  if (at == std::string::npos) return abi::kNotApplicable;
  const std::string listed = "," + text.substr(at + begin.size(), text.find(';', at) - at - begin.size()) + ",";
  std::vector<Device> usable;
  for (const Device& device : virtual_devices) {
    const auto emulated = device.metadata.find("Emulated");
    if (emulated != device.metadata.end() && emulated->second == "1") usable.push_back(device);
  }
  if (!kinds.empty()) {
    const auto found = devices_of(runtime);
    if (!found.ok()) return abi::kUnsupported;
    for (const Device& device : found->devices)
      if (std::ranges::find(kinds, device.kind) != kinds.end()) usable.push_back(device);
  }
  const bool is_listed = std::ranges::any_of(
      usable, [&](const Device& device) { return listed.find("," + device_text(device) + ",") != std::string::npos; });
  if (is_listed) return abi::kOptimal;
  // The portable model would be compiled when it is loaded.
  return !usable.empty() && text.find("portable=1") != std::string::npos ? abi::kPreferRecompilation
                                                                         : abi::kUnsupported;
}

}  // namespace latebind::provider
