#include "backends/onnxruntime/prepared_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/onnx_form.h"

namespace latebind::onnxruntime {

using core::CompileOptions;
using core::ModelForm;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;

namespace {

// The first version whose optimizer also searches the folder that it is given.
constexpr std::uint32_t kReadsFromFolder = 21;

}  // namespace

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

Result<PreparedModel> prepare(const Environment& environment, const core::Model& model, const CompileOptions& options) {
  PreparedModel prepared;
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

}  // namespace latebind::onnxruntime
