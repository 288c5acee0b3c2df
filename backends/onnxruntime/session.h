// Session: a model that the vendor has loaded, and what it declares. Made from a model or from a blob.
//
// Constant after construction; the vendor runs one session from several threads at once, but for providers that are in
// one session at a time: whoever has the vendor do something with such a session takes a turn().
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
#include "core/executable.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct Session {
  Session() = default;
  Session(Session&&) = default;
  Session& operator=(Session&&) = default;
  ~Session();

  // Null where none is needed. The errors of OneAtATime::take().
  [[nodiscard]] core::Result<OneAtATime::Turn> turn(const std::function<bool()>& is_enough = nullptr) const {
    if (one_at_a_time == nullptr) return OneAtATime::Turn();
    return one_at_a_time->take(is_enough);
  }

  // Declared before what depends on them.
  std::shared_ptr<const Environment> environment;
  // What the vendor reads in place.
  std::vector<core::SharedBytes> kept;
  OneAtATime* one_at_a_time = nullptr;  // the process's; null: the provider can be in several sessions
  bool from_blob = false;
  Assignment assignment{};  // of a provider's device
  Owned<abi::Session> handle{nullptr, nullptr};

  std::vector<core::TensorInfo> inputs;
  std::vector<core::TensorInfo> outputs;
};

// The caller checks precisions: the vendor's CPU computes in the precision of the model. kUnsupported for a model
// without an ONNX form; kInvalidModel with the vendor's text when the model is wrong. `plugin`: the device to use
// instead of the vendor's CPU; may be null.
[[nodiscard]] core::Result<Session> load_model(std::shared_ptr<const Environment> environment, const core::Model& model,
                                               const core::CompileOptions& options, const PluginUse* plugin = nullptr);

// The vendor's own file of an optimised model, from memory. kIncompatibleBlob when it is not one.
[[nodiscard]] core::Result<Session> load_blob(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                                              const core::CompileOptions& options);

// The output of compile_context(), on a device of the same provider. kIncompatibleBlob when it is not one, or the
// provider says that it cannot be used here.
[[nodiscard]] core::Result<Session> load_context(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                                                 const core::CompileOptions& options, const PluginUse& plugin);

// An ONNX model of contexts that the plugin has compiled, embedded, into `file`: stock ONNX Runtime with that provider
// loads it, too. Paths of the model appear in the output relative to the current folder. kUnsupported, naming nodes,
// when options.whole_graph is set and some are left to the CPU: `file` may exist even then.
[[nodiscard]] core::Status compile_context(const Environment& environment, const core::Model& model,
                                           const core::CompileOptions& options, const PluginUse& plugin,
                                           const std::filesystem::path& file);

// Such a file, from a model; `kind` is kCompile or kCompileHere.
[[nodiscard]] core::Result<core::SharedBytes> compile_model(const Environment& environment, const core::Model& model,
                                                            const core::CompileOptions& options, SessionKind kind);

}  // namespace latebind::onnxruntime
