#include "backends/onnxruntime/provider_compile.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backends/onnxruntime/backend.h"
#include "backends/onnxruntime/context_model.h"
#include "backends/onnxruntime/register_provider.h"
#include "backends/onnxruntime/session.h"
#include "backends/onnxruntime/targets.h"
#include "core/json/parse.h"
#include "core/log.h"
#include "core/model/onnx_form.h"
#include "core/platform/child_process.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/temporary_folder.h"
#include "core/text/one_line.h"
#include "core/threads/mutex.h"

namespace latebind::onnxruntime {
namespace {

using core::CompileOptions;
using core::Json;
using core::ModelForm;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kJobBytesMax = std::size_t{16} << 20;
// Keeps the last kLinesMax lines of the vendor's log, each cut to kLineMax bytes.
constexpr std::size_t kLinesMax = 8;
constexpr std::size_t kLineMax = 2048;

struct CompiledFile {
  platform::TemporaryFolder folder;
  platform::MappedFile file;
};

// Describes the model so that a child can read it: parts that are only in memory become files in `folder`.
Result<Json> model_for_child(const core::Model& model, const std::filesystem::path& folder) {
  LB_ASSIGN_OR_RETURN(const ModelForm form, core::onnx_form(model));
  Json result{{"name", model.name()}, {"external", Json::array()}};
  if (!form.file.empty()) {
    std::error_code error;
    result["file"] = platform::path_to_utf8(std::filesystem::absolute(form.file, error));
    return result;
  }
  const auto graph = folder / "graph.onnx";
  LB_RETURN_IF_ERROR(platform::write_file_unsynced(graph, form.graph.bytes));
  result["graph"] = platform::path_to_utf8(graph);
  std::size_t number = 0;
  for (const core::ExternalData& external : form.external) {
    std::error_code error;
    auto file = external.file.empty() ? external.file : std::filesystem::absolute(external.file, error);
    const bool by_name = !file.empty() && external.offset == 0 && !error && external.is_file_unchanged();
    if (!by_name) {
      // Under the model's own name for the file, if it is a plain file name. The file is then found through its folder
      // like one of a model folder, and the vendor's output is the same for both.
      const auto name = platform::path_from_utf8(external.location);
      const bool plain =
          name == name.filename() && name != graph.filename() && !name.empty() && name != "." && name != "..";
      file = folder / (plain ? name : std::filesystem::path(fmt::format("data-{}", number++)));
      LB_RETURN_IF_ERROR(platform::write_file_unsynced(file, external.data.bytes));
    }
    result["external"].push_back({{"location", external.location}, {"file", platform::path_to_utf8(file)}});
  }
  return result;
}

Result<core::SharedBytes> mapped(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(auto opened, platform::MappedFile::open(file));
  const auto shared = std::make_shared<const platform::MappedFile>(std::move(opened));
  return core::SharedBytes{shared, shared->bytes()};
}

Result<core::Model> model_from_job(const Json& job) {
  ModelForm form;
  form.format = core::ModelFormat::kOnnx;
  if (job.contains("file")) {
    form.file = platform::path_from_utf8(job["file"].get<std::string>());
  } else {
    LB_ASSIGN_OR_RETURN(form.graph, mapped(platform::path_from_utf8(job["graph"].get<std::string>())));
  }
  for (const Json& one : job["external"]) {
    core::ExternalData external;
    external.location = one["location"].get<std::string>();
    external.file = platform::path_from_utf8(one["file"].get<std::string>());
    LB_ASSIGN_OR_RETURN(auto opened, platform::MappedFile::open(external.file));
    const auto shared = std::make_shared<const platform::MappedFile>(std::move(opened));
    external.data = {shared, shared->bytes()};
    external.identity = shared->identity();
    form.external.push_back(std::move(external));
  }
  return core::Model::from_forms(job["name"].get<std::string>(), {std::move(form)});
}

// The vendor writes data into its blob that depends on the model's path. With the model's folder as the current one,
// the data does not depend on the place of the folder.
void enter_folder(const Json& model) {
  std::error_code ignored;
  const Json& external = model["external"];
  const Json* file = nullptr;
  if (model.contains("file")) {
    file = &model["file"];
  } else if (!external.empty()) {
    file = &external.front()["file"];
  }
  if (file == nullptr) return;
  std::filesystem::current_path(platform::path_from_utf8(file->get<std::string>()).parent_path(), ignored);
}

Json options_for_child(const CompileOptions& options) {
  Json shapes = Json::array();
  for (const core::Shape& shape : options.input_shapes)
    shapes.push_back(std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end()));
  return {{"precision", core::word_of(options.precision)},
          {"threads", options.threads},
          {"leave_any", options.host_nodes == core::HostNodes::kAny},
          {"shapes", std::move(shapes)},
          {"properties", options.properties}};
}

Result<CompileOptions> options_from_job(const Json& job) {
  CompileOptions options;
  LB_ASSIGN_OR_RETURN(options.precision, core::parse_word<core::Precision>(job["precision"].get<std::string>()));
  options.threads = job["threads"].get<unsigned>();
  if (job["leave_any"].get<bool>()) options.host_nodes = core::HostNodes::kAny;
  for (const Json& dims : job["shapes"]) {
    std::vector<std::int64_t> sizes;
    for (const Json& size : dims)
      sizes.push_back(size.get<std::int64_t>());
    LB_ASSIGN_OR_RETURN(const auto shape, core::Shape::make(sizes));
    options.input_shapes.push_back(shape);
  }
  for (const auto& [key, value] : job["properties"].members())
    options.properties[key] = value.text();
  return options;
}

Status compile_job(const std::string& job_file) {
  LB_ASSIGN_OR_RETURN(const auto bytes, mapped(platform::path_from_utf8(job_file)));
  if (bytes.bytes.size() > kJobBytesMax) return Status(StatusCode::kInvalidArgument, "the job is too large");
  const std::string_view text(reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size());
  const Json job = core::json_or_null(text);
  if (!job.is_object()) return Status(StatusCode::kInvalidArgument, "the job is not a JSON object");
  LB_ASSIGN_OR_RETURN(const auto model, model_from_job(job["model"]));
  LB_ASSIGN_OR_RETURN(const auto options, options_from_job(job["options"]));
  LB_ASSIGN_OR_RETURN(auto library, open_library(job["runtime"].get<std::string>()));
  LB_ASSIGN_OR_RETURN(const auto environment, Environment::create(std::move(library)));
  LB_ASSIGN_OR_RETURN(auto devices, register_provider(*environment, job["provider"].get<std::string>()));
  name_devices(devices);
  LB_ASSIGN_OR_RETURN(const auto use, plugin_use(job["device"].get<std::string>(), devices));
  enter_folder(job["model"]);
  return compile_context(*environment, model, options, use, platform::path_from_utf8(job["output"].get<std::string>()));
}

// Collects the lines that the vendor logs, as details of an error.
class Lines {
 public:
  void add(std::string_view line) {
    const core::MutexLock lock(mutex_);
    if (lines_.size() == kLinesMax) lines_.erase(lines_.begin());
    lines_.emplace_back(line.substr(0, kLineMax));
  }
  std::string text() {
    const core::MutexLock lock(mutex_);
    std::string text;
    for (const std::string& line : lines_)
      text += (text.empty() ? "" : "\n") + core::one_line(line);
    return text;
  }

 private:
  core::Mutex mutex_;
  std::vector<std::string> lines_ LB_GUARDED_BY(mutex_);
};

}  // namespace

std::string compiler_file(const KnownProvider& provider, const std::string& provider_file) {
  if (provider.compiler_stem.empty()) return {};
  const auto file = platform::path_from_utf8(provider_file).parent_path() /
                    core::library_name(provider.compiler_stem, core::own_system());
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) ? platform::path_to_utf8(file) : std::string();
}

Result<PluginUse> plugin_use(const std::string& device, const std::vector<PluginDevice>& devices) {
  LB_ASSIGN_OR_RETURN(const TargetName target, find_target(device));
  PluginUse use;
  use.id = "onnxruntime:" + device;
  for (const PluginDevice& one : devices) {
    if (target.target == nullptr && one.device.name == device) {
      use.device = one.handle;
      if (const KnownProvider* const known = known_provider(one.provider)) {
        for (const DefaultOption& option : known->options)
          use.options.emplace_back(option.key, option.value);
      }
      return use;
    }
    if (target.target == nullptr || one.provider != target.provider->provider) continue;
    const std::string compiler = compiler_file(*target.provider, one.library);
    if (compiler.empty()) {
      return Status(StatusCode::kLibraryNotFound,
                    fmt::format("the compiler for {} is not installed: {} should be beside {} ({})", use.id,
                                core::library_name(target.provider->compiler_stem, core::own_system()), one.library,
                                install_command(*target.provider)));
    }
    use.device = one.handle;
    use.options = provider_options(*target.target, compiler);
    use.target = target.target;
    return use;
  }
  return Status(StatusCode::kDeviceNotFound, fmt::format("no provider offers the device {}", use.id));
}

Result<core::SharedBytes> compile_in_child(const TrialOptions& options, const std::string& runtime_file,
                                           const std::string& provider_file, const std::string& device,
                                           const core::Model& model, const CompileOptions& compile,
                                           core::LeftNodes& left) {
  left = {};
  LB_ASSIGN_OR_RETURN(const auto program, core::trial_program(options));
  LB_ASSIGN_OR_RETURN(auto folder, platform::TemporaryFolder::create("compile"));
  const auto output = folder.path() / "model.onnx";
  Json job{{"runtime", runtime_file},
           {"provider", provider_file},
           {"device", device},
           {"options", options_for_child(compile)},
           {"output", platform::path_to_utf8(output)}};
  LB_ASSIGN_OR_RETURN(job["model"], model_for_child(model, folder.path()));
  const auto job_file = folder.path() / "job.json";
  const std::string text = job.dump();
  LB_RETURN_IF_ERROR(platform::write_file_unsynced(job_file, std::as_bytes(std::span(text))));

  LB_ASSIGN_OR_RETURN(const auto outcome,
                      platform::run_child(program, {kCompileCommand, platform::path_to_utf8(job_file)},
                                          platform::ChildLimits{.time = kCompileTimeMax}));
  using End = platform::ChildOutcome::End;
  if (outcome.end == End::kSignal || outcome.end == End::kTimedOut) {
    return Status(StatusCode::kDeviceFailed, fmt::format("the compiler for onnxruntime:{} {} on the model {}", device,
                                                         platform::describe(outcome), model.name()));
  }
  if (Status refused = core::status_from_child(outcome.output); !refused.ok()) {
    // The output, if there is one, says more.
    const auto written = platform::MappedFile::open(output);
    if (!written.ok()) return refused;
    if (auto made = read_context_model(written->bytes()); made.ok()) left = std::move(made->others);
    return refused;
  }
  // Checked because the child has opened the model's files by name.
  LB_RETURN_IF_ERROR(model.check_files());
  LB_ASSIGN_OR_RETURN(auto file, platform::MappedFile::open(output));
  const auto compiled =
      std::make_shared<const CompiledFile>(CompiledFile{.folder = std::move(folder), .file = std::move(file)});
  LB_ASSIGN_OR_RETURN(auto made, read_context_model(compiled->file.bytes()));
  left = std::move(made.others);
  return core::SharedBytes{compiled, compiled->file.bytes()};
}

std::string run_compile_job(const std::string& job_file) {
  Lines lines;
  auto sink = [&lines](core::LogLevel, std::string_view line) { lines.add(line); };
  core::set_log_sink(core::LogSink::to(sink));
  Status status = compile_job(job_file);
  core::set_log_sink({});
  if (const std::string said = lines.text(); !status.ok() && !said.empty()) {
    status = Status::from_vendor(
        status.code(), std::string(status.message()), status.vendor_code().value_or(0),
        fmt::format("{}{}{}", status.vendor_text(), status.vendor_text().empty() ? "" : "; ", said));
  }
  return core::line_for_parent(status);
}

}  // namespace latebind::onnxruntime
