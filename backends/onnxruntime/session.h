// Session: a model that the vendor has loaded, from a model or from a blob, and its declared inputs and outputs.
//
// Constant after construction. Several threads can run one session at once, except for providers that support one
// session at a time: callers take a turn() before the vendor does anything with such a session.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "backends/onnxruntime/assignment.h"
#include "backends/onnxruntime/declaration.h"
#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/one_at_a_time.h"
#include "backends/onnxruntime/session_options.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct Session {
  Session() = default;
  Session(Session&&) = default;
  Session& operator=(Session&&) = default;
  ~Session();

  // Null if no turn is needed. Returns the errors of OneAtATime::take().
  [[nodiscard]] core::Result<OneAtATime::Turn> turn(const std::function<bool()>& is_enough = nullptr) const {
    if (one_at_a_time == nullptr) return OneAtATime::Turn();
    return one_at_a_time->take(is_enough);
  }

  // Declared before the members that depend on it.
  std::shared_ptr<const Environment> environment;
  // Memory that the vendor reads in place.
  std::vector<core::SharedBytes> kept;
  OneAtATime* one_at_a_time = nullptr;  // shared by the process; null: the provider supports several sessions
  bool from_blob = false;
  Assignment assignment{};  // for a provider's device
  Owned<abi::Session> handle{nullptr, nullptr};

  std::vector<core::TensorInfo> inputs;
  std::vector<core::TensorInfo> outputs;
};

// Loads a model. The caller checks precisions, since the vendor's CPU computes in that of the model. `plugin` is the
// device to use instead of the CPU; may be null. Returns kUnsupported for a model without an ONNX form, and
// kInvalidModel with the vendor's text for a damaged one.
[[nodiscard]] core::Result<Session> load_model(std::shared_ptr<const Environment> environment, const core::Model& model,
                                               const core::CompileOptions& options, const PluginUse* plugin = nullptr);

// Loads the vendor's own file of an optimised model from memory. Returns kIncompatibleBlob for any other data.
[[nodiscard]] core::Result<Session> load_blob(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                                              const core::CompileOptions& options);

// Asks whether a blob that describes itself with this string can be used, without the blob. kIncompatibleBlob if the
// provider reports that it cannot, or if it was made for another target.
[[nodiscard]] core::Status check_compatibility(const Library& library, const PluginUse& plugin,
                                               const std::string& compatibility);

// Loads the output of compile_context() on a device of the same provider. Returns kIncompatibleBlob for other data, or
// if the provider reports that it cannot use the blob here.
[[nodiscard]] core::Result<Session> load_context(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                                                 const core::CompileOptions& options, const PluginUse& plugin);

// Writes to `file` an ONNX model with embedded contexts that the plugin has compiled. Stock ONNX Runtime with that
// provider can load it as well. The output contains paths of the model relative to the current folder. Returns
// kUnsupported, naming nodes, if options.whole_graph is set and nodes are left to the CPU; `file` may exist even then.
[[nodiscard]] core::Status compile_context(const Environment& environment, const core::Model& model,
                                           const core::CompileOptions& options, const PluginUse& plugin,
                                           const std::filesystem::path& file);

// Compiles a model to the vendor's file of an optimised model; `kind` is kCompile or kCompileHere.
[[nodiscard]] core::Result<core::SharedBytes> compile_model(const Environment& environment, const core::Model& model,
                                                            const core::CompileOptions& options, SessionKind kind);

}  // namespace latebind::onnxruntime
