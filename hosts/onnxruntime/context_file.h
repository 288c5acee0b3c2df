// Compiled models within a model of the host: what is in an EPContext node, and how it is made.
//
// The payload is a bundle (docs/bundle-format.md): compiled variants, and the portable model for everything else. It is
// in the node, or in a file beside the model. Pure but for files; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

// Compiles a part for the targets and writes the bundle, whole or not at all. Throws Failure with what the compilers
// say.
void compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                    const std::vector<std::string>& targets, const std::filesystem::path& bundle);
// The same as bytes.
[[nodiscard]] std::string compile_bundle(const Runtime& runtime, const std::string& name, const OnnxPart& part,
                                         const std::vector<std::string>& targets);

// The file that a node's ep_cache_context names, below `folder`. Throws Failure for names that lead elsewhere.
[[nodiscard]] std::filesystem::path context_path(const std::filesystem::path& folder, const std::string& name);

// Where the file of a part is put: beside the model that is written.
[[nodiscard]] std::string context_file_name(const std::filesystem::path& model_file, std::size_t part);

// A new node for the host, with all attributes; inputs and outputs in the model's order. `payload` is the bundle, or
// the file's name where it is not embedded.
[[nodiscard]] abi::Node* make_context_node(const Host& host, const std::string& name, const OnnxPart& part,
                                           const std::string& payload, bool is_embedded);

// What a compiled model is for, as the host keeps it: "latebind 1; devices=openvino:CPU@2026.4.1…; portable=1".
[[nodiscard]] std::string compatibility_text(const std::vector<Device>& targets);
// What that means for devices of these kinds (LB_DEVICE_…) here, and for virtual ones, which run only where their
// vendor emulates them.
[[nodiscard]] abi::Compatibility compatibility_of(const Runtime& runtime, const std::string& text,
                                                  const std::vector<std::int32_t>& kinds,
                                                  const std::vector<Device>& virtual_devices);

}  // namespace latebind::provider
