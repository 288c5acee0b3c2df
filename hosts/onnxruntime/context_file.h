// Compiled models within a model of the host: what is in an EPContext node, and how it is made.
//
// The payload is a bundle (docs/bundle-format.md): compiled variants, and the portable model for everything else. It is
// in the node, or in a file beside the model. Pure but for files; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/onnxruntime/bundle_file.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

// Compiles a part for the targets and writes the bundle, whole or not at all. Throws Failure with what the compilers
// say.
void compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                    const std::vector<std::string>& targets, const std::filesystem::path& bundle);
// The same as bytes.
[[nodiscard]] std::string compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                                         const std::vector<std::string>& targets);

// What an EPContext node says.
struct ContextNode {
  std::string name;
  std::string partition;
  std::vector<std::string> inputs;  // of the node, and of the model: in the same order
  std::vector<std::string> outputs;
  std::string sdk_version;   // what made the bundle
  std::string_view payload;  // the bundle, or the file's name where it is not embedded
  bool is_embedded = false;
  BundleIdentity identity{};  // of a bundle in a file
};

// A new node for the host.
[[nodiscard]] abi::Node* make_context_node(const Host& host, const ContextNode& node);
// As a node of the host has it, without the payload.
[[nodiscard]] ContextNode read_context_node(const Host& host, const NodeView& node);
// The sdk_version of what this library makes.
[[nodiscard]] std::string own_sdk_version();

// What a compiled model is for, as the host keeps it: "latebind 1; devices=openvino:CPU@2026.4.1…; portable=1".
[[nodiscard]] std::string compatibility_text(const std::vector<Device>& targets);
// What that means for devices of these kinds (LB_DEVICE_…) here, and for virtual ones, which run only where their
// vendor emulates them.
[[nodiscard]] abi::Compatibility compatibility_of(const Runtime& runtime, const std::string& text,
                                                  const std::vector<std::int32_t>& kinds,
                                                  const std::vector<Device>& virtual_devices);

}  // namespace latebind::provider
