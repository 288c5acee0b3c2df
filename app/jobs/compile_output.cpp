#include "app/jobs/compile_output.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "app/apart.h"
#include "app/jobs/compile_lock.h"
#include "app/jobs/compile_pte.h"
#include "core/bundle/bundle_model.h"
#include "core/bundle/choose.h"
#include "core/bundle/package_identity.h"
#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/bundle_parts.h"

namespace latebind::app {
namespace {

using core::CompileJob;
using core::CompileOutcome;
using core::Result;
using core::Status;

core::PackageHead head_of(const CompileOptions& options, const CompileInput& input) {
  core::PackageHead head;
  if (input.added_to) {
    const core::Manifest& manifest = input.added_to->manifest();
    head = {manifest.package_name, manifest.package_version, manifest.description, manifest.additional_metadata};
  } else if (input.folder)
    head = embedding::package_head(*input.folder);
  if (head.name.empty()) head.name = input.model.name();
  if (!options.name.empty()) head.name = options.name;
  if (!options.version.empty()) head.version = options.version;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) head.additional_metadata[key] = value;
  };
  set("source", options.source);
  set("revision", options.revision);
  set("license", options.licence);
  return head;
}

Result<core::PackageWriter> bundle_of(const CompileOptions& options, const CompileInput& input,
                                      const std::vector<CompileJob>& jobs,
                                      const std::vector<CompileOutcome>& outcomes) {
  core::PackageWriter writer(head_of(options, input));
  std::string component = core::kModelComponent;
  if (input.added_to) {
    LB_ASSIGN_OR_RETURN(const core::Component* existing, core::model_component(*input.added_to));
    component = existing->name;
    std::set<std::string> replaced;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (outcomes[i].blob) replaced.insert(core::variant_name(jobs[i]));
    }
    LB_RETURN_IF_ERROR(writer.add_package(*input.added_to, component, replaced));
  } else if (!input.folder) {
    LB_RETURN_IF_ERROR(core::add_portable(input.model, writer));
  } else {
    LB_RETURN_IF_ERROR(embedding::add_portable(*input.folder, *input.graph, writer));
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!outcomes[i].blob) continue;
    LB_RETURN_IF_ERROR(writer.add_variant(component, core::variant_of(jobs[i], outcomes[i])));
  }
  std::vector<core::RefusedTarget> refused;
  std::set<std::string> again;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    again.insert(core::variant_name(jobs[i]));
    if (auto one = core::refused_target(input.model, jobs[i], outcomes[i])) refused.push_back(*std::move(one));
  }
  LB_RETURN_IF_ERROR(writer.set_refused(component, refused, again));
  return writer;
}

// Whether the bundle that is extended in place is still the one that was read.
core::PackageWriter::MayReplace still_read(const CompileOptions& options, const CompileInput& input) {
  if (!input.added_to ||
      !is_same_file(platform::path_from_utf8(options.model), platform::path_from_utf8(options.output))) {
    return nullptr;
  }
  return [&options, &input](const std::filesystem::path& old) {
    const auto state = core::state_of_bundle(old);
    return state.ok() && *state == input.state ? Status() : changed_meanwhile(options.output);
  };
}

}  // namespace

Status check_head(const CompileOptions& options, const CompileInput& input, const Client& client) {
  if (options.format == CompileFormat::kBlob) return {};  // a blob has no description
  const core::PackageHead head = head_of(options, input);
  const auto check = [&client](std::string_view option, const std::string& text) -> Status {
    if (!core::find_invalid_utf8(text)) return {};
    return {core::StatusCode::kInvalidArgument,
            fmt::format("{}: '{}' is not UTF-8, which a bundle requires: give another text", client.name(option),
                        core::printable(text))};
  };
  LB_RETURN_IF_ERROR(check("name", head.name));
  LB_RETURN_IF_ERROR(check("package_version", head.version));
  for (const char* key : {"source", "revision", "license"}) {
    const auto* const text = core::find_member(head.additional_metadata, key);
    if (text == nullptr || !text->is_string()) continue;
    LB_RETURN_IF_ERROR(check(key, text->text()));
  }
  return {};
}

Status check_portable(const CompileOptions& options, const CompileInput& input) {
  if (options.format == CompileFormat::kBlob || input.added_to) return {};
  if (input.folder) {
    if (input.model.graph() != nullptr || !input.folder->documents().network.onnx_file) return {};
    LB_ASSIGN_OR_RETURN(const auto stored,
                        input.folder->files().open_file(*input.folder->documents().network.onnx_file));
    return core::check_portable_onnx(stored.bytes(), stored.name);
  }
  const core::ModelForm& form = input.model.forms().front();
  if (form.format != core::ModelFormat::kOnnx) return {};
  LB_ASSIGN_OR_RETURN(const core::SharedBytes content, form.open());
  return core::check_portable_onnx(content.bytes, options.model);
}

Status write_compiled(const CompileOptions& options, const Runtime& runtime, const CompileInput& input,
                      const std::vector<CompileJob>& jobs, const std::vector<CompileOutcome>& outcomes,
                      const PteSignature* signature, const Client& client) {
  const auto place = platform::path_from_utf8(options.output);
  if (options.format == CompileFormat::kBlob) {
    std::error_code ignored;
    platform::remove_abandoned_outputs(std::filesystem::absolute(place, ignored).parent_path());
    LB_ASSIGN_OR_RETURN(auto file, platform::OutputFile::create(place));
    const auto bytes = outcomes.front().blob->bytes.bytes;
    LB_RETURN_IF_ERROR(file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    return file.commit();
  }
  LB_ASSIGN_OR_RETURN(const core::PackageWriter writer, bundle_of(options, input, jobs, outcomes));
  const PteBundle bundle{input, runtime, writer};
  if (options.format == CompileFormat::kPte && signature == nullptr) {
    return convert_pte(place, platform::path_from_utf8(options.model), &bundle, client);
  }
  if (options.format == CompileFormat::kPte) {
    std::set<core::Precision> precisions;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (outcomes[i].blob) precisions.insert(outcomes[i].blob->precision);
    }
    return write_pte(place, options.pte, *signature, bundle, precisions, client);
  }
  return writer.write(place,
                      options.format == CompileFormat::kFolder ? core::PackageForm::kFolder : core::PackageForm::kZip,
                      still_read(options, input));
}

}  // namespace latebind::app
