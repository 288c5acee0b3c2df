#include "app/jobs/export.h"

#include <fmt/format.h>

#include "app/apart.h"
#include "app/model_source.h"
#include "core/platform/folders.h"
#include "embedding/graph/export.h"
#include "embedding/model_folder.h"

namespace latebind::app {
namespace {

using core::Status;
using core::StatusCode;

Status write(const ExportOptions& options, const Client& client, ExportReport& report) {
  if (options.output == "-") {
    report.options_are_wrong = true;
    return {StatusCode::kInvalidArgument,
            fmt::format("{} -: a model is a file, not output to a pipe: give its name", client.name("output"))};
  }
  LB_ASSIGN_OR_RETURN(const auto place, find_model(options.model, client));
  const Status apart =
      check_file_apart({client.name("output"), options.output}, {client.name("model"), platform::path_to_utf8(place)});
  report.options_are_wrong = !apart.ok();
  LB_RETURN_IF_ERROR(apart);
  LB_ASSIGN_OR_RETURN(const auto folder, embedding::ModelFolder::open(place));
  return embedding::write_onnx_file(folder, {.hidden_states = options.hidden_states},
                                    platform::path_from_utf8(options.output));
}

}  // namespace

ExportReport export_onnx(const ExportOptions& options, const Client& client) {
  ExportReport report{.file = options.output};
  report.failure = write(options, client, report);
  return report;
}

Json to_json(const ExportReport& report) {
  Json json;
  json["file"] = report.failure.ok() ? Json(report.file) : Json();
  return json;
}

}  // namespace latebind::app
