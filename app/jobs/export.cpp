#include "app/jobs/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/apart.h"
#include "app/model_source.h"
#include "core/platform/files/folders.h"
#include "embedding/export_onnx.h"
#include "embedding/folder/model_folder.h"
#include "embedding/hub/content_check.h"

namespace latebind::app {
namespace {

using core::Status;
using core::StatusCode;

Status check_place(const ExportOptions& options, const std::filesystem::path& model, const Client& client) {
  return check_file_apart({client.name("output"), options.output},
                          {client.name("model"), platform::path_to_utf8(model)});
}

Status write(const ExportOptions& options, const std::filesystem::path& model, const Client& client) {
  LB_ASSIGN_OR_RETURN(const auto folder, embedding::ModelFolder::open(model, folder_options({}, client)));
  const embedding::Specification& specification = folder.documents();
  if (client.note && !options.hidden_states && !specification.assumed.empty()) client.note(specification.assumed);
  embedding::GraphOptions graph;
  if (options.hidden_states) graph.outputs = {"token_vectors"};
  return embedding::write_onnx_file(specification, graph, platform::path_from_utf8(options.output));
}

}  // namespace

Placed export_onnx(const ExportOptions& options, const Client& client) {
  if (options.output == "-") {
    return {Status(StatusCode::kInvalidArgument, fmt::format("{} -: a model is a file, not output to a pipe: give its "
                                                             "name",
                                                             client.name("output"))),
            true};
  }
  const auto model = find_model(options.model, {}, client);
  if (!model.ok()) return {model.status()};
  if (Status wrong = check_place(options, *model, client); !wrong.ok()) return {std::move(wrong), true};
  return {embedding::hub::with_damage(write(options, *model, client), *model)};
}

}  // namespace latebind::app
