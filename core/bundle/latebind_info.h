// LatebindInfo: what Latebind writes about a variant, in the slot `executor_info.latebind` that a model package gives
// each consumer. docs/bundle-format.md documents it for authors.
//
// Plain values. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/refused_target.h"
#include "core/json.h"
#include "core/result.h"

namespace latebind::core {

// The name of our slot in `executor_info`.
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

// "dynamic" for none, else a list of lists.
[[nodiscard]] nlohmann::json shapes_to_json(const std::vector<std::vector<std::int64_t>>& shapes);
[[nodiscard]] Result<std::vector<std::vector<std::int64_t>>> shapes_from_json(const nlohmann::json& value,
                                                                              std::string_view where);

// A blob of which only the difference from another file is stored, and what the variant says where it is whole.
struct StoredDifference {
  std::string file;         // VCDIFF (vcdiff.h), in the variant's folder
  std::string from;         // "sha256:<hex>/file": what it differs from
  std::uint64_t bytes = 0;  // of the whole blob
  std::string sha256;       // 64 lower-case digits, of the whole blob
  std::string ep;           // the variant's execution provider
  nlohmann::json host;      // the slot of ONNX Runtime, an object; null: none

  friend bool operator==(const StoredDifference&, const StoredDifference&) = default;
};

struct LatebindInfo {
  // A variant with a difference has the second one.
  static constexpr std::size_t kVersion = 2;

  std::string target;           // "portable", "cpu", "npu:v73"
  std::string backend;          // the backend that loads it; empty: any that reads the format
  std::string device;           // as that backend calls it
  std::string runtime_version;  // of the vendor library that made it; empty for a portable model
  std::string precision;        // a name of core::Precision, or one that this version does not know
  std::string format;           // "onnx", "openvino-ir", "blob", …
  std::string model;            // what is loaded: a file of the variant's folder, or "sha256:<hex>/file"
  // The input shapes that it was compiled for, each a list of dimensions, -1 for any; empty: dynamic.
  std::vector<std::vector<std::int64_t>> shapes;
  // What else it needs, by role ("weights", "model_folder"): "sha256:<hex>" or "sha256:<hex>/file".
  std::map<std::string, std::string> assets;
  std::vector<RecordedFile> files;  // every file of the variant's folder
  LeftNodes left_to_cpu;            // of a blob that is not the whole model
  // Of a blob: it need not lie in a mapping to be loaded (Blob::is_copied), and may be stored as a difference.
  bool is_copied = false;
  // `model` is not stored, but is to be made of this.
  std::optional<StoredDifference> difference;
  // Of the portable model: what it could not be compiled for.
  std::vector<RefusedTarget> refused;
  // Keys that this version does not know, as they were found.
  nlohmann::json more = nlohmann::json::object();

  [[nodiscard]] bool is_portable() const { return target == kPortableTarget; }
  friend bool operator==(const LatebindInfo&, const LatebindInfo&) = default;
};

// kInvalidModel: `where` says which variant of which file. Unknown keys are kept; a wrong type, a path that leads out,
// an invalid sum and a `version` above kVersion are rejected.
[[nodiscard]] Result<LatebindInfo> parse_latebind_info(const nlohmann::json& slot, std::string_view where);

[[nodiscard]] nlohmann::json to_json(const LatebindInfo& info);

}  // namespace latebind::core
