// The bytes of a blob: a program that a plug-in has compiled, with everything that is needed to run it without its
// model.
//
//   8 bytes   magic "LBPJRT" and the format's number
//   8 bytes   length of the header, little-endian
//   32 bytes  the sum of everything that follows, as text (core/cache/compile_entry.h)
//   …         the header: JSON with the plug-in, the device, inputs, outputs and places of the parts
//   …         the parts, each at a multiple of 64 bytes: the compiled program, then the weights
//
// A plug-in verifies nothing, and may abort for a damaged program. So everything is checked here first. Pure functions,
// for any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backends/pjrt/stablehlo/network.h"
#include "core/config.h"
#include "core/result.h"

namespace latebind::pjrt {

// What a blob was made by and for.
struct BlobOrigin {
  std::string plugin_digest;  // of the plug-in's file
  std::string platform;       // "cpu"
  std::string device_kind;    // "NVIDIA H100 80GB HBM3"
  core::Precision precision = core::Precision::kF32;

  friend bool operator==(const BlobOrigin&, const BlobOrigin&) = default;
};

struct BlobConstant {
  Dims dims;
  Element element = Element::kF32;
  std::span<const std::byte> bytes;
};

struct BlobContent {
  BlobOrigin origin;
  std::vector<NetworkInput> inputs{};
  std::vector<core::TensorInfo> outputs{};
  std::span<const std::byte> program{};
  std::vector<BlobConstant> constants{};
};

[[nodiscard]] std::string write_blob(const BlobContent& content);
// Returns the blob with this header and these parts, whatever is in them.
[[nodiscard]] std::string seal_blob(std::string header, std::span<const std::span<const std::byte>> parts);

// Returns what is in a blob; spans refer to `bytes`. kIncompatibleBlob, with the reason, for anything that write_blob()
// does not write.
[[nodiscard]] core::Result<BlobContent> read_blob(std::span<const std::byte> bytes);

}  // namespace latebind::pjrt
