#include "backends/onnxruntime/session.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backends/onnxruntime/context_model.h"
#include "backends/onnxruntime/prepared_model.h"
#include "backends/onnxruntime/targets.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/process_generation.h"

namespace latebind::onnxruntime {
namespace {

using core::CompileOptions;
using core::ModelForm;
using core::Result;
using core::Status;
using core::StatusCode;

std::vector<core::TensorInfo> infos_of(std::vector<Declared> declared) {
  std::vector<core::TensorInfo> infos;
  for (Declared& one : declared)
    infos.push_back(std::move(one.info));
  return infos;
}

// The vendor's file of an optimised model is a flatbuffer with this magic at offset 4.
constexpr std::string_view kBlobMagic = "ORTM";
constexpr std::size_t kBlobMagicOffset = 4;
// The vendor reads the weights of a blob in place if they have the alignment of its allocator.
constexpr std::size_t kBlobAlignment = 64;

bool is_blob(std::span<const std::byte> bytes) {
  return bytes.size() > kBlobMagicOffset + kBlobMagic.size() &&
         std::memcmp(bytes.data() + kBlobMagicOffset, kBlobMagic.data(), kBlobMagic.size()) == 0;
}

// For providers that support one session at a time; null for others.
OneAtATime* turns_of(const Library& library, const PluginUse* plugin) {
  static platform::PerProcess<OneAtATime> turns;
  if (plugin == nullptr) return nullptr;
  const char* const name = library.plugin.EpDevice_EpName(plugin->device);
  const KnownProvider* const known = name != nullptr ? known_provider(name) : nullptr;
  return known != nullptr && known->one_session_at_a_time ? &turns.get() : nullptr;
}

// Keeps the libraries that a provider opens for a session in the process. NVIDIA's Vulkan driver registers work for the
// end of each thread that has called it, and is unloaded with the last session. Threads that end later would crash, and
// after some hundred sessions the driver could not start again for lack of space.
class LibrariesOfSession {
 public:
  explicit LibrariesOfSession(const PluginUse* plugin) {
    if (plugin != nullptr) before_ = platform::loaded_libraries();
  }
  LibrariesOfSession(const LibrariesOfSession&) = delete;
  LibrariesOfSession& operator=(const LibrariesOfSession&) = delete;
  ~LibrariesOfSession() {
    if (!before_.empty()) platform::keep_libraries_since(before_);
  }

 private:
  std::vector<std::string> before_;
};

// `loader` is the noun for the library that reads the blob, for errors.
Result<Session> open_blob(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                          const abi::SessionOptions* options, std::string_view loader,
                          const PluginUse* plugin = nullptr) {
  const Library& library = environment->library();
  Session session;
  session.one_at_a_time = turns_of(library, plugin);
  LB_ASSIGN_OR_RETURN(const auto turn, session.turn());
  // A provider's context is copied; the vendor's own blob is read in place.
  if (plugin == nullptr) session.kept.push_back(blob.bytes);
  session.from_blob = true;
  const LibrariesOfSession libraries(plugin);
  abi::Session* handle = nullptr;
  if (auto* failure = library.api.CreateSessionFromArray(environment->env(), blob.bytes.bytes.data(),
                                                         blob.bytes.bytes.size(), options, &handle)) {
    return library.error(StatusCode::kIncompatibleBlob, fmt::format("{} cannot load the blob", loader), failure);
  }
  session.handle = Owned<abi::Session>(handle, library.api.ReleaseSession);
  LB_ASSIGN_OR_RETURN(auto declaration, read_declaration(*environment, handle));
  session.inputs = infos_of(std::move(declaration.inputs));
  session.outputs = infos_of(std::move(declaration.outputs));
  session.environment = std::move(environment);
  return session;
}

// The assignment of a model that is loaded from this form.
Result<Assignment> assignment_of(const Environment& environment, const abi::Session* session, const PluginUse& plugin,
                                 const CompileOptions& options, const ModelForm& form, const std::string& name) {
  std::optional<platform::MappedFile> mapped;
  if (!form.file.empty()) {
    LB_ASSIGN_OR_RETURN(mapped, platform::MappedFile::open(form.file));
  }
  return read_assignment(environment.library(), session, plugin, options.host_nodes,
                         mapped ? mapped->bytes() : form.graph.bytes, name);
}

}  // namespace

Session::~Session() {
  if (handle == nullptr || one_at_a_time == nullptr) return;
  struct Rest {
    std::shared_ptr<const Environment> environment;
    std::vector<core::SharedBytes> kept;
    Owned<abi::Session> handle;
  };
  one_at_a_time->end(std::make_shared<Rest>(Rest{std::move(environment), std::move(kept), std::move(handle)}));
}

Result<Session> load_model(std::shared_ptr<const Environment> environment, const core::Model& model,
                           const CompileOptions& options, const PluginUse* plugin) {
  LB_ASSIGN_OR_RETURN(const auto prepared, prepare(*environment, model, options));
  LB_ASSIGN_OR_RETURN(auto session_options,
                      make_session_options(*environment, plugin != nullptr ? SessionKind::kContext : SessionKind::kRun,
                                           options, prepared.dimensions));
  if (plugin != nullptr) {
    LB_RETURN_IF_ERROR(use_plugin(*environment, *plugin, options, options.host_nodes, session_options.get()));
  }
  Session session;
  session.one_at_a_time = turns_of(environment->library(), plugin);
  LB_ASSIGN_OR_RETURN(const auto turn, session.turn());
  const LibrariesOfSession libraries(plugin);
  LB_ASSIGN_OR_RETURN(session.handle,
                      create_session(*environment, model.name(), prepared.readable, session_options.get()));
  if (plugin != nullptr) {
    LB_ASSIGN_OR_RETURN(session.assignment, assignment_of(*environment, session.handle.get(), *plugin, options,
                                                          prepared.readable.form, model.name()));
  }
  LB_ASSIGN_OR_RETURN(auto declaration, read_declaration(*environment, session.handle.get()));
  NamedDimensions known;
  LB_RETURN_IF_ERROR(apply_shapes(options.input_shapes, declaration.inputs, known));
  session.inputs = infos_of(std::move(declaration.inputs));
  session.outputs = infos_of(std::move(declaration.outputs));
  session.environment = std::move(environment);
  return session;
}

Result<Session> load_blob(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                          const CompileOptions& options) {
  const Library& library = environment->library();
  if (!is_blob(blob.bytes.bytes)) {
    return Status(StatusCode::kIncompatibleBlob, "the blob is not a compiled model of ONNX Runtime, or is damaged");
  }
  LB_ASSIGN_OR_RETURN(auto session_options, make_session_options(*environment, SessionKind::kBlob, options, {}));
  const auto bytes = blob.bytes.bytes;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kBlobAlignment == 0) {
    LB_RETURN_IF_ERROR(add_entry(library, session_options.get(), "session.use_ort_model_bytes_directly", "1"));
    LB_RETURN_IF_ERROR(add_entry(library, session_options.get(), "session.use_ort_model_bytes_for_initializers", "1"));
  }
  return open_blob(std::move(environment), blob, session_options.get(), "ONNX Runtime");
}

Status check_compatibility(const Library& library, const PluginUse& plugin, const std::string& compatibility) {
  const auto refuse = [](std::string text) { return Status(StatusCode::kIncompatibleBlob, std::move(text)); };
  if (plugin.target != nullptr) {
    return is_for_another(*plugin.target, compatibility)
               ? refuse(fmt::format("the blob was made for '{}', not for {}", compatibility, plugin.id))
               : Status();
  }
  if (compatibility.empty() || library.plugin.GetModelCompatibilityForEpDevices == nullptr) return {};
  abi::CompiledModelCompatibility verdict = abi::kNotApplicable;
  if (auto* failure =
          library.plugin.GetModelCompatibilityForEpDevices(&plugin.device, 1, compatibility.c_str(), &verdict)) {
    return library.error(StatusCode::kIncompatibleBlob, "the provider does not report whether it can use the blob",
                         failure);
  }
  return verdict == abi::kNotCompatible
             ? refuse(fmt::format("{} cannot use a blob made for '{}'", plugin.id, compatibility))
             : Status();
}

Result<Session> load_context(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                             const CompileOptions& options, const PluginUse& plugin) {
  const Library& library = environment->library();
  const auto refuse = [](std::string text) { return Status(StatusCode::kIncompatibleBlob, std::move(text)); };
  const auto model = read_context_model(blob.bytes.bytes);
  if (!model.ok()) return refuse(fmt::format("the blob is damaged: {}", model.status().message()));
  if (model->contexts == 0) return refuse("the blob is not a compiled model: it has no EPContext node");
  // The vendor would read it from any place that the model names.
  if (!model->embedded) return refuse("the blob names a context in another file");
  const char* provider = library.plugin.EpDevice_EpName(plugin.device);
  const std::string compatibility = model->compatibility(provider != nullptr ? provider : "");
  if (!blob.compatibility.empty() && blob.compatibility != compatibility) {
    return refuse(
        fmt::format("the blob describes itself as '{}', but its label is '{}'", compatibility, blob.compatibility));
  }
  LB_RETURN_IF_ERROR(check_compatibility(library, plugin, compatibility));
  LB_ASSIGN_OR_RETURN(auto session_options, make_session_options(*environment, SessionKind::kBlob, options, {}));
  LB_RETURN_IF_ERROR(use_plugin(*environment, plugin, options, options.host_nodes, session_options.get()));
  LB_ASSIGN_OR_RETURN(auto session, open_blob(std::move(environment), blob, session_options.get(), plugin.id, &plugin));
  LB_ASSIGN_OR_RETURN(session.assignment, read_assignment(library, session.handle.get(), plugin, options.host_nodes,
                                                          blob.bytes.bytes, "the blob"));
  return session;
}

}  // namespace latebind::onnxruntime
