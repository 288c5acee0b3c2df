#include "backends/onnxruntime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backends/onnxruntime/context_model.h"
#include "backends/onnxruntime/targets.h"
#include "core/graph/onnx_reader.h"
#include "core/graph/onnx_structure.h"
#include "core/model/onnx_form.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/temporary_folder.h"
#include "core/platform/process_generation.h"
#include "core/text/quote.h"

namespace latebind::onnxruntime {
namespace {

using core::CompileOptions;
using core::ModelForm;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;

// The folder that contains every file of external data under the model's name for it, without a symbolic link on the
// way, which the vendor refuses. Empty if there is no such folder, or if a file has been replaced since it was opened.
std::filesystem::path folder_of_external(const ModelForm& form) {
  std::filesystem::path folder;
  for (const core::ExternalData& external : form.external) {
    std::error_code error;
    if (external.file.empty() || external.offset != 0) return {};
    const auto real = std::filesystem::canonical(external.file, error);
    const auto location = platform::path_from_utf8(external.location);
    if (error || location.empty() || location.is_absolute()) return {};
    auto base = real;
    for (auto part = location.begin(); part != location.end(); ++part)
      base = base.parent_path();
    if (base / location != real || !external.is_file_unchanged()) return {};
    if (!folder.empty() && folder != base) return {};
    folder = base;
  }
  return folder;
}

// The first version whose optimizer also searches the folder that it is given.
constexpr std::uint32_t kReadsFromFolder = 21;

// A model in memory, in the form that the vendor reads.
struct ReadableForm {
  ModelForm form;
  // The folder from which the vendor opens the files of external data by their names in the model. Empty: it gets their
  // bytes.
  std::filesystem::path folder;
};

// The place in a file of data that a model has in a part of that file. Only that part belongs to the model.
Result<graph::ExternalPlace> place_in_file(graph::ExternalPlace place, const core::ExternalData& external,
                                           const std::string& file) {
  const std::uint64_t size = external.data.bytes.size();
  const bool is_to_the_end = place.length == graph::ExternalPlace::kToTheEnd;
  if (place.offset > size || (!is_to_the_end && place.length > size - place.offset)) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("the ONNX model has data beyond the end of {}", core::quoted(place.location)));
  }
  return graph::ExternalPlace{.location = file,
                              .offset = external.offset + place.offset,
                              .length = is_to_the_end ? size - place.offset : place.length};
}

// Finds a folder from which the vendor can open the files of external data: under the model's names for them or, as
// with the links of the hub's cache and in a bundle's ZIP, under the real names, which replace those in the model.
Result<ReadableForm> make_readable(ModelForm form) {
  if (form.external.empty()) return ReadableForm{std::move(form), {}};
  auto folder = folder_of_external(form);
  if (!folder.empty()) return ReadableForm{std::move(form), std::move(folder)};
  std::vector<std::filesystem::path> files;
  for (const core::ExternalData& external : form.external) {
    std::error_code error;
    const bool may_open = !external.file.empty() && external.may_open_file && external.is_file_unchanged();
    if (may_open) files.push_back(std::filesystem::canonical(external.file, error));
    if (!may_open || error) return ReadableForm{std::move(form), {}};
    if (files.size() == 1) folder = files.front().parent_path();
    while (!platform::is_within(files.back(), folder)) {
      if (folder == folder.parent_path()) return ReadableForm{std::move(form), {}};  // on another drive
      folder = folder.parent_path();
    }
  }
  const auto real_place = [&](graph::ExternalPlace place) -> Result<graph::ExternalPlace> {
    const auto found = std::ranges::find(form.external, place.location, &core::ExternalData::location);
    if (found == form.external.end()) return place;
    const auto& file = files[static_cast<std::size_t>(found - form.external.begin())];
    return place_in_file(std::move(place), *found,
                         platform::path_to_utf8(file.lexically_relative(folder).generic_string()));
  };
  LB_ASSIGN_OR_RETURN(auto moved, graph::with_external_places(form.graph.bytes, real_place));
  form.graph = core::SharedBytes::from_string(std::move(moved));
  return ReadableForm{std::move(form), std::move(folder)};
}

enum class Paths { kFull, kFromHere };

std::filesystem::path from_here(const std::filesystem::path& place) {
  std::error_code error;
  auto relative = std::filesystem::proximate(place, error);
  return error ? place : relative;
}

// Files that the vendor has opened by name are compared with those that were opened before.
Status check_external_data(const std::string& model, const ReadableForm& readable) {
  if (readable.folder.empty()) return {};
  for (const core::ExternalData& external : readable.form.external) {
    if (external.is_file_unchanged()) continue;
    return Status(StatusCode::kIo, fmt::format("{} was replaced while the model {} was being loaded; open it again",
                                               platform::path_to_utf8(external.file), model));
  }
  return {};
}

// The files that a model in memory names. From memory the vendor copies them, more than once, and takes no tensor of
// 2 GiB; a file it maps.
Status add_external_data(const Library& library, const ReadableForm& readable, abi::SessionOptions* options,
                         Paths paths_are = Paths::kFull) {
  const ModelForm& form = readable.form;
  if (form.external.empty()) return {};
  if (!readable.folder.empty()) {
    const auto folder = paths_are == Paths::kFromHere ? from_here(readable.folder) : readable.folder;
    return add_entry(library, options, "session.model_external_initializers_file_folder_path",
                     platform::path_to_utf8(folder));
  }
  std::vector<std::filesystem::path> paths;
  std::vector<const abi::PathChar*> names;
  std::vector<char*> buffers;
  std::vector<std::size_t> sizes;
  paths.reserve(form.external.size());
  for (const core::ExternalData& external : form.external) {
    names.push_back(paths.emplace_back(platform::path_from_utf8(external.location)).c_str());
    // The vendor only reads the data, in spite of the type.
    buffers.push_back(const_cast<char*>(reinterpret_cast<const char*>(external.data.bytes.data())));
    sizes.push_back(external.data.bytes.size());
  }
  LB_ORT_RETURN_IF_ERROR(library,
                         library.api.AddExternalInitializersFromFilesInMemory(options, names.data(), buffers.data(),
                                                                              sizes.data(), names.size()),
                         "ONNX Runtime refuses the model's external data");
  return {};
}

Result<Owned<abi::Session>> create_session(const Environment& environment, const std::string& name,
                                           const ReadableForm& readable, abi::SessionOptions* options) {
  const Library& library = environment.library();
  const abi::Api& api = library.api;
  const ModelForm& form = readable.form;
  LB_RETURN_IF_ERROR(add_external_data(library, readable, options));
  abi::Session* session = nullptr;
  abi::Status* failure = form.file.empty() ? api.CreateSessionFromArray(environment.env(), form.graph.bytes.data(),
                                                                        form.graph.bytes.size(), options, &session)
                                           : api.CreateSession(environment.env(), form.file.c_str(), options, &session);
  Owned<abi::Session> owned(session, api.ReleaseSession);
  if (failure != nullptr) {
    Status refused = library.error_by_kind(StatusCode::kInvalidModel,
                                           fmt::format("ONNX Runtime cannot load the model {}", name), failure);
    LB_RETURN_IF_ERROR(check_external_data(name, readable));
    return refused;
  }
  LB_RETURN_IF_ERROR(check_external_data(name, readable));
  return owned;
}

// Applies the requested shapes to the declared inputs.
Status apply_shapes(std::span<const Shape> shapes, std::vector<Declared>& inputs, NamedDimensions& dimensions) {
  if (shapes.empty()) return {};
  if (shapes.size() != inputs.size()) {
    return Status(StatusCode::kCountMismatch,
                  fmt::format("{} input shapes are given, but the model has {} inputs", shapes.size(), inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& [info, names] = inputs[i];
    if (!shapes[i].is_static() || !info.shape.accepts(shapes[i])) {
      return Status(StatusCode::kShapeMismatch,
                    fmt::format("input '{}' is declared as {}; it cannot be given the shape {}", info.name,
                                info.shape.to_string(), shapes[i].to_string()));
    }
    for (std::size_t d = 0; d < names.size(); ++d) {
      if (info.shape[d] != core::kDynamic || names[d].empty()) continue;
      const auto known = std::ranges::find(dimensions, names[d], &NamedDimensions::value_type::first);
      if (known == dimensions.end()) {
        dimensions.emplace_back(names[d], shapes[i][d]);
      } else if (known->second != shapes[i][d]) {
        return Status(StatusCode::kShapeMismatch,
                      fmt::format("dimension '{}' of the model cannot be {} and, for input '{}', {}", names[d],
                                  known->second, info.name, shapes[i][d]));
      }
    }
    info.shape = shapes[i];
  }
  return {};
}

std::vector<core::TensorInfo> infos_of(std::vector<Declared> declared) {
  std::vector<core::TensorInfo> infos;
  for (Declared& one : declared)
    infos.push_back(std::move(one.info));
  return infos;
}

struct Prepared {
  ReadableForm readable;
  NamedDimensions dimensions;
};

// If shapes are requested, the model is loaded once to get the names of its dimensions.
Result<Prepared> prepare(const Environment& environment, const core::Model& model, const CompileOptions& options) {
  Prepared prepared;
  auto form = core::onnx_form(model);
  if (!form.ok()) return form.status().with_context("onnxruntime");
  if (environment.library().api_version >= kReadsFromFolder) {
    LB_ASSIGN_OR_RETURN(prepared.readable, make_readable(*std::move(form)));
  } else {
    prepared.readable.form = *std::move(form);
  }
  if (options.input_shapes.empty()) return prepared;
  LB_ASSIGN_OR_RETURN(auto session_options, make_session_options(environment, SessionKind::kDeclare, {}, {}));
  LB_ASSIGN_OR_RETURN(const auto session,
                      create_session(environment, model.name(), prepared.readable, session_options.get()));
  LB_ASSIGN_OR_RETURN(auto declaration, read_declaration(environment, session.get()));
  LB_RETURN_IF_ERROR(apply_shapes(options.input_shapes, declaration.inputs, prepared.dimensions));
  return prepared;
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

// A compiled file, mapped, with its folder.
struct MappedBlob {
  platform::TemporaryFolder folder;
  platform::MappedFile file;
};

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

namespace {

// Whether the caller can choose a size of an input.
bool has_open_inputs(const ModelForm& form) {
  std::optional<platform::MappedFile> mapped;
  if (!form.file.empty()) {
    auto opened = platform::MappedFile::open(form.file);
    if (!opened.ok()) return false;
    mapped = *std::move(opened);
  }
  const auto signature = graph::read_onnx_signature(mapped ? mapped->bytes() : form.graph.bytes, "the model");
  const auto is_open = [](const graph::OnnxTensor& input) {
    return !input.has_shape || std::ranges::find(input.shape, -1) != input.shape.end();
  };
  return signature.ok() && std::ranges::any_of(signature->inputs, is_open);
}

}  // namespace

Status compile_context(const Environment& environment, const core::Model& model, const CompileOptions& options,
                       const PluginUse& plugin, const std::filesystem::path& file) {
  const Library& library = environment.library();
  const abi::PluginApi& api = library.plugin;
  if (!api.has_compiler()) {
    return Status(StatusCode::kUnsupported, fmt::format("compiling for {} needs ONNX Runtime 1.{} or newer; this is {}",
                                                        plugin.id, abi::kCompilerSince, library.version));
  }
  LB_ASSIGN_OR_RETURN(const auto prepared, prepare(environment, model, options));
  LB_ASSIGN_OR_RETURN(auto session_options,
                      make_session_options(environment, SessionKind::kContext, options, prepared.dimensions));
  LB_RETURN_IF_ERROR(add_external_data(library, prepared.readable, session_options.get(), Paths::kFromHere));
  // The vendor would say that nodes are left, and not which.
  LB_RETURN_IF_ERROR(use_plugin(environment, plugin, options, core::HostNodes::kAny, session_options.get()));

  abi::ModelCompilationOptions* raw = nullptr;
  LB_ORT_RETURN_IF_ERROR(
      library, api.CreateModelCompilationOptionsFromSessionOptions(environment.env(), session_options.get(), &raw),
      "ONNX Runtime cannot create compile options");
  const Owned<abi::ModelCompilationOptions> compilation(raw, api.ReleaseModelCompilationOptions);
  const auto check = [&](abi::Status* failure, const char* what) -> Status {
    if (failure == nullptr) return {};
    return library.error(StatusCode::kInternal, fmt::format("ONNX Runtime cannot compile with {}", what), failure);
  };
  const ModelForm& form = prepared.readable.form;
  const auto model_file = form.file.empty() ? form.file : from_here(form.file);
  LB_RETURN_IF_ERROR(check(form.file.empty() ? api.ModelCompilationOptions_SetInputModelFromBuffer(
                                                   raw, form.graph.bytes.data(), form.graph.bytes.size())
                                             : api.ModelCompilationOptions_SetInputModelPath(raw, model_file.c_str()),
                           "this model"));
  LB_RETURN_IF_ERROR(
      check(api.ModelCompilationOptions_SetOutputModelPath(raw, file.c_str()), "this place to write to"));
  LB_RETURN_IF_ERROR(check(api.ModelCompilationOptions_SetEpContextEmbedMode(raw, true), "embedded contexts"));
  LB_RETURN_IF_ERROR(
      check(api.ModelCompilationOptions_SetGraphOptimizationLevel(raw, abi::kEnableBasic), "basic optimisations"));
  if (auto* failure = api.CompileModel(environment.env(), raw)) {
    return library.error_by_kind(StatusCode::kDeviceFailed,
                                 fmt::format("{} cannot compile the model {}", plugin.id, model.name()), failure);
  }
  LB_RETURN_IF_ERROR(check_external_data(model.name(), prepared.readable));

  LB_ASSIGN_OR_RETURN(const auto mapped, platform::MappedFile::open(file));
  LB_ASSIGN_OR_RETURN(const auto made, read_context_model(mapped.bytes()));
  const bool whole = made.contexts > 0 && made.others.count == 0;
  if (made.contexts == 0 || (options.host_nodes != core::HostNodes::kAny && !whole)) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{} leaves {} of the {} nodes of {} to the CPU: {}{}", plugin.id, made.others.count,
                    made.others.count + made.contexts, model.name(), named_nodes(made.others),
                    options.input_shapes.empty() && has_open_inputs(form) ? "; static input shapes may help" : ""));
  }
  return {};
}

Result<core::SharedBytes> compile_model(const Environment& environment, const core::Model& model,
                                        const CompileOptions& options, SessionKind kind) {
  const Library& library = environment.library();
  LB_ASSIGN_OR_RETURN(const auto prepared, prepare(environment, model, options));
  LB_ASSIGN_OR_RETURN(auto session_options, make_session_options(environment, kind, options, prepared.dimensions));
  LB_ASSIGN_OR_RETURN(auto folder, platform::TemporaryFolder::create("compile"));
  const auto file = folder.path() / "model.ort";
  LB_RETURN_IF_ERROR(add_entry(library, session_options.get(), "session.save_model_format", "ORT"));
  LB_ORT_RETURN_IF_ERROR(library, library.api.SetOptimizedModelFilePath(session_options.get(), file.c_str()),
                         "ONNX Runtime refuses the output path");
  {
    LB_ASSIGN_OR_RETURN(const auto session,
                        create_session(environment, model.name(), prepared.readable, session_options.get()));
    // Refuses what could be loaded, but not run by us.
    LB_RETURN_IF_ERROR(read_declaration(environment, session.get()).status());
  }
  LB_ASSIGN_OR_RETURN(auto mapped, platform::MappedFile::open(file));
  const auto blob = std::make_shared<const MappedBlob>(MappedBlob{std::move(folder), std::move(mapped)});
  return core::SharedBytes{blob, blob->file.bytes()};
}

}  // namespace latebind::onnxruntime
