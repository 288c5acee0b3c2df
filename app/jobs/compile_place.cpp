#include "app/jobs/compile_place.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "app/apart.h"
#include "core/bundle/own_folder.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/output_folder.h"
#include "embedding/hub/name.h"

namespace latebind::app {

using core::Status;
using core::StatusCode;

Status check_output(const CompileOptions& options, bool is_program, const Client& client) {
  const std::string called = client.name("output");
  if (options.output.empty())
    return {StatusCode::kInvalidArgument, fmt::format("{} is empty: give the name of a file", called)};
  if (options.output == "-") {
    return {StatusCode::kInvalidArgument,
            fmt::format("{} -: a compiled model is a file, not output to a pipe: give its name", called)};
  }
  const bool is_bundle = options.format == CompileFormat::kBundle || options.format == CompileFormat::kFolder;
  const bool replaced = is_program ? options.format == CompileFormat::kPte : options.add && is_bundle;
  const bool over_itself =
      replaced && is_same_file(platform::path_from_utf8(options.model), platform::path_from_utf8(options.output));
  if (over_itself && !platform::can_replace_mapped_files()) {
    return {StatusCode::kInvalidArgument,
            fmt::format("{} {}: Windows cannot replace a file that is being read: give another name", called,
                        options.output)};
  }
  if (!over_itself) LB_RETURN_IF_ERROR(check_apart({called, options.output}, {client.name("model"), options.model}));
  LB_RETURN_IF_ERROR(check_apart({called, options.output}, {client.name("program_model"), options.pte.model}));
  if (options.format != CompileFormat::kFolder) return {};
  return platform::OutputFolder::place_of(platform::path_from_utf8(options.output)).status().with_context(called);
}

Status check_replaced(const CompileOptions& options, const Client& client) {
  if (options.format != CompileFormat::kFolder) return {};
  const auto place = platform::path_from_utf8(options.output);
  return core::check_replaceable(place, place).with_context(client.name("output"));
}

Status try_output(const CompileOptions& options) {
  const auto place = platform::path_from_utf8(options.output);
  if (options.format == CompileFormat::kFolder) return platform::OutputFolder::create(place).status();
  std::error_code ignored;
  const auto there = std::filesystem::status(place, ignored);
  const bool is_written_directly = std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
                                   !std::filesystem::is_directory(there);
  return is_written_directly ? Status() : platform::OutputFile::create(place).status();
}

Status check_output_of(const CompileInput& input, const std::string& output, const Client& client) {
  if (!input.folder || input.added_to) return {};
  return check_apart({client.name("output"), output},
                     {"the model", platform::path_to_utf8(input.folder->files().place())});
}

Status check_input(const std::string& what, const std::string& model) {
  std::error_code error;
  if (std::filesystem::exists(platform::path_from_utf8(model), error) || error) return {};
  if (embedding::hub::is_model_name(model)) return {};
  return {StatusCode::kNotFound, fmt::format("cannot read {} '{}': there is no such file or folder; check its name, or "
                                             "give a model's name on the hub, ORG/NAME",
                                             what, model)};
}

}  // namespace latebind::app
