// Compiling a model with the vendor, or with a plugin provider.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "backends/onnxruntime/context_model.h"
#include "backends/onnxruntime/prepared_model.h"
#include "backends/onnxruntime/session.h"
#include "core/graph/onnx_reader.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/temporary_folder.h"

namespace latebind::onnxruntime {

using core::CompileOptions;
using core::ModelForm;
using core::Result;
using core::Status;
using core::StatusCode;

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

// A compiled file, mapped, with its folder.
struct MappedBlob {
  platform::TemporaryFolder folder;
  platform::MappedFile file;
};

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
