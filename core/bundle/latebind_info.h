// LatebindInfo: what Latebind writes about a variant, in the slot `executor_info.latebind` that a model package gives
// each consumer. docs/bundle-format.md documents it for authors.
//
// Plain values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/refused_target.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::core {

// The name of Latebind's slot in `executor_info`.
inline constexpr const char* kLatebindSlot = "latebind";
// The target of a variant that any machine can compile for itself.
inline constexpr std::string_view kPortableTarget = "portable";

// A file of a variant's folder, as it was written.
struct RecordedFile {
  std::string path;  // relative to the variant's folder
  std::uint64_t bytes = 0;
  std::string sha256;  // 64 lower-case digits

  friend bool operator==(const RecordedFile&, const RecordedFile&) = default;
};

// Converts shapes to a list of lists, or to "dynamic" if there are none, and back.
[[nodiscard]] Json shapes_to_json(const std::vector<std::vector<std::int64_t>>& shapes);
[[nodiscard]] Result<std::vector<std::vector<std::int64_t>>> shapes_from_json(const Json& value,
                                                                              std::string_view where);

// A blob that is stored as its difference from another file, and the values that the variant has when it is whole.
struct StoredDifference {
  std::string file;         // VCDIFF (vcdiff.h), in the variant's folder
  std::string from;         // "sha256:<hex>/file": the file that it differs from
  std::uint64_t bytes = 0;  // of the whole blob
  std::string sha256;       // 64 lower-case digits, of the whole blob
  std::string ep;           // the variant's execution provider
  Json host;                // the slot of ONNX Runtime, an object; null if absent

  friend bool operator==(const StoredDifference&, const StoredDifference&) = default;
};

struct LatebindInfo {
  // Variants with a difference have version 2, the others 1.
  static constexpr std::size_t kVersion = 2;

  std::string target;           // "portable", "cpu", "npu:v73"
  std::string backend;          // the backend that loads it; empty: any that reads the format
  std::string device;           // the device's name in that backend
  std::string runtime_version;  // of the vendor library that made it; empty for a portable model
  std::string precision;        // a name of core::Precision, or one that this version does not know
  std::string format;           // "onnx", "openvino-ir", "blob", …
  std::string model;            // the file that is loaded: in the variant's folder, or "sha256:<hex>/file"
  // The input shapes that it was compiled for, each a list of dimensions with -1 for any; empty for dynamic shapes.
  std::vector<std::vector<std::int64_t>> shapes;
  // Other assets that it needs, by role ("weights", "model_folder"): "sha256:<hex>" or "sha256:<hex>/file".
  std::map<std::string, std::string> assets;
  std::vector<RecordedFile> files;  // every file of the variant's folder
  LeftNodes left_to_cpu;            // for a blob that is not the whole model
  // For a blob: whether it can be loaded from a copy (Blob::is_copied), so that it may be stored as a difference.
  bool is_copied = false;
  // If set, `model` is not stored but is made from this difference.
  std::optional<StoredDifference> difference;
  // For the portable model: the targets that it could not be compiled for.
  std::vector<RefusedTarget> refused;
  // Keys that this version does not know, unchanged.
  Json more = Json::object();

  [[nodiscard]] bool is_portable() const { return target == kPortableTarget; }
  friend bool operator==(const LatebindInfo&, const LatebindInfo&) = default;
};

// Parses the slot. `where` names the variant and the file. Unknown keys are kept. kInvalidModel for a wrong type, a
// path that leads out of the package, an invalid digest and a `version` above kVersion.
[[nodiscard]] Result<LatebindInfo> parse_latebind_info(const Json& slot, std::string_view where);

[[nodiscard]] Json to_json(const LatebindInfo& info);

}  // namespace latebind::core
