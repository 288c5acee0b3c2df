// Compiled models within a model of the host: the content of an EPContext node, and its creation.
//
// The payload is a bundle (docs/bundle-format.md) with compiled variants, and the portable model for all other devices.
// It is in the node, or in a file beside the model. The functions only access files; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/onnxruntime/bundle_file.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

// Compiles a part for the targets and writes the complete bundle. Throws Failure with the compilers' errors, without
// leaving a file.
void compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                    const std::vector<std::string>& targets, const std::filesystem::path& bundle);
// The same as bytes.
[[nodiscard]] std::string compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                                         const std::vector<std::string>& targets);

// The attributes of an EPContext node.
struct ContextNode {
  std::string name;
  std::string partition;
  std::vector<std::string> inputs;  // of the node and of the model, in the same order
  std::vector<std::string> outputs;
  std::string sdk_version;   // the version that made the bundle
  std::string_view payload;  // the bundle, or the file's name if it is not embedded
  bool is_embedded = false;
  BundleIdentity identity{};  // for a bundle in a file
};

// Creates a node for the host.
[[nodiscard]] abi::Node* make_context_node(const Host& host, const ContextNode& node);
// Reads a node of the host, without the payload.
[[nodiscard]] ContextNode read_context_node(const Host& host, const NodeView& node);
// The sdk_version that this library writes.
[[nodiscard]] std::string own_sdk_version();

// The devices of a compiled model, in the form that the host stores: "latebind 1; devices=openvino:CPU@2026.4.1…;
// portable=1".
[[nodiscard]] std::string compatibility_text(const std::vector<Device>& targets);
// The compatibility that such a text has with devices of these kinds (LB_DEVICE_…) in this machine, and with virtual
// devices, which run only if their vendor emulates them.
[[nodiscard]] abi::Compatibility compatibility_of(const Runtime& runtime, const std::string& text,
                                                  const std::vector<std::int32_t>& kinds,
                                                  const std::vector<Device>& virtual_devices);

}  // namespace latebind::provider
