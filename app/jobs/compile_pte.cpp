#include "app/jobs/compile_pte.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/apart.h"
#include "app/jobs/compile_lock.h"
#include "app/jobs/pte_signature.h"
#include "app/settings.h"
#include "core/config.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "formats/pte/converter.h"
#include "formats/pte/program.h"
#include "formats/pte/reader.h"
#include "formats/pte/writer.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kPrecisionKey = "precision";

Result<std::vector<pte::CompileSpec>> specs_of(const PteOptions& options, const Client& client) {
  std::vector<pte::CompileSpec> specs;
  for (const std::string& text : options.compile_specs) {
    const auto equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{}: '{}' must be KEY=VALUE, such as device=npu,cpu",
                                                              client.name("compile_spec"), text));
    }
    const SettingSpec* setting = find_setting(key);
    if (setting == nullptr) return unknown_setting_error(key).with_context(client.name("compile_spec"));
    if (!setting->of_model) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: the delegate does not take {} from a program", client.name("compile_spec"), key));
    }
    if (std::ranges::any_of(specs, [&](const auto& other) { return other.key == key; })) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: {} is given twice", client.name("compile_spec"), key));
    }
    specs.push_back({key, text.substr(equals + 1)});
  }
  return specs;
}

// Reads the specs as a delegate without other settings does.
Result<EffectiveSettings> settings_of(const std::vector<pte::CompileSpec>& specs, const Client& client) {
  EffectiveSettings settings;
  for (const pte::CompileSpec& spec : specs)
    LB_RETURN_IF_ERROR(settings.set(spec.key, spec.value, client.name("compile_spec")));
  return settings;
}

// Checks everything about the values that does not depend on the program's machine.
Status check_values(const std::vector<pte::CompileSpec>& specs, const Runtime& runtime, const Client& client) {
  LB_ASSIGN_OR_RETURN(const EffectiveSettings settings, settings_of(specs, client));
  return core::Placement::parse(settings.values().device, runtime.registry)
      .status()
      .with_context(client.name("compile_spec") + " device");
}

// Checks that the program asks for the precisions of this call, in any order and among others.
Status check_precisions(const std::vector<pte::CompileSpec>& specs, const std::vector<core::Precision>& wanted,
                        const Client& client) {
  const auto spec = std::ranges::find(specs, kPrecisionKey, &pte::CompileSpec::key);
  if (spec == specs.end()) return {};
  LB_ASSIGN_OR_RETURN(const auto asked, parse_precisions(spec->value));
  for (const core::Precision precision : wanted) {
    if (std::ranges::find(asked, precision) != asked.end()) continue;
    return {StatusCode::kInvalidArgument,
            fmt::format("{} precision={} contradicts {}, which is {}: leave one of them out",
                        client.name("compile_spec"), spec->value, client.name("precision"), core::word_of(precision))};
  }
  return {};
}

// Adds the precisions of the variants already in the bundle.
template <class Add>
void add_precisions_of(const core::Package& bundle, const Add& add) {
  for (const core::Component& component : bundle.manifest().components) {
    for (const core::Variant& variant : component.variants) {
      if (variant.latebind && core::parse_word<core::Precision>(variant.latebind->precision).ok()) {
        add(variant.latebind->precision);
      }
    }
  }
}

// The precisions to try on a device, in order; "" means the delegate's default, f32. Without this, an NPU that only
// computes in f16 would be skipped despite its variant in the bundle.
std::string precisions_of(const CompileInput& input, const Runtime& runtime,
                          const std::set<core::Precision>& compiled) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
  };
  if (runtime.precision_given) {
    for (const core::Precision precision : runtime.settings.precisions)
      add(core::word_of(precision));
  } else {
    add(core::word_of(core::Precision::kF32));
    for (const core::Precision precision : compiled)
      add(core::word_of(precision));
    if (input.added_to) add_precisions_of(*input.added_to, add);
    if (words.size() == 1) return "";
  }
  return fmt::format("{}", fmt::join(words, ","));
}

// `image` must outlive the payload.
pte::Payload payload_of(const core::ZipImage& image) {
  return {image.size(), [&image](const pte::Sink& sink) { return image.write(sink); }};
}

// Runs `write` on a file that appears only once it is complete and `may_replace` agrees. Also removes what killed
// writers left in the folder.
Status write_through(const std::filesystem::path& place, const std::function<Status(const pte::Sink& sink)>& write,
                     const std::function<Status()>& may_replace = {}) {
  std::error_code error;
  const auto full = std::filesystem::absolute(place, error);
  if (!error) platform::remove_abandoned_outputs(full.parent_path());
  LB_ASSIGN_OR_RETURN(auto file, platform::OutputFile::create(place));
  LB_RETURN_IF_ERROR(write([&](std::span<const std::byte> bytes) { return file.write(bytes); }));
  if (may_replace) LB_RETURN_IF_ERROR(may_replace());
  return file.commit();
}

}  // namespace

Status check_pte_options(const CompileOptions& options, const Runtime& runtime, const Client& client) {
  if (!pte::is_built_in()) return pte::read_program({}).status();
  LB_RETURN_IF_ERROR(check_max_shapes(options.pte.max_shapes, client));
  LB_ASSIGN_OR_RETURN(const auto specs, specs_of(options.pte, client));
  LB_RETURN_IF_ERROR(check_values(specs, runtime, client));
  return options.names_precision ? check_precisions(specs, runtime.settings.precisions, client) : Status();
}

Result<PteSignature> plan_pte(const PteOptions& options, const CompileInput& input, const Runtime& runtime,
                              std::span<const core::CompileJob> jobs, const Client& client) {
  LB_ASSIGN_OR_RETURN(const auto specs, specs_of(options, client));
  LB_ASSIGN_OR_RETURN(const EffectiveSettings settings, settings_of(specs, client));
  LB_ASSIGN_OR_RETURN(PteSignature signature,
                      pte_signature(input, runtime, options.max_shapes, settings.values().input_shapes, client));
  LB_RETURN_IF_ERROR(check_variants(input, jobs, signature, client));
  return signature;
}

Status write_pte(const std::filesystem::path& place, const PteOptions& options, const PteSignature& signature,
                 const PteBundle& bundle, const std::set<core::Precision>& precisions, const Client& client) {
  pte::ProgramSpec spec;
  spec.inputs = signature.inputs;
  spec.outputs = signature.outputs;
  spec.plan_inputs = options.plan_inputs;
  LB_ASSIGN_OR_RETURN(spec.compile_specs, specs_of(options, client));
  const bool has_precision =
      std::ranges::any_of(spec.compile_specs, [](const auto& one) { return one.key == kPrecisionKey; });
  const std::string words = precisions_of(bundle.input, bundle.runtime, precisions);
  if (!has_precision && !words.empty()) spec.compile_specs.push_back({std::string(kPrecisionKey), words});
  LB_ASSIGN_OR_RETURN(const core::ZipImage image, bundle.bundle.zip());
  return write_through(place, [&](const pte::Sink& sink) { return pte::write_program(spec, payload_of(image), sink); });
}

Status convert_pte(const std::filesystem::path& place, const std::filesystem::path& old, const PteBundle* replacement,
                   const Client& client) {
  LB_ASSIGN_OR_RETURN(const auto mapped, platform::MappedFile::open(old));
  const std::string name = platform::path_to_utf8(old);
  pte::Conversion conversion;
  const auto found = pte::inspect_conversion(mapped.bytes(), conversion);
  if (!found.ok()) return found.status().with_context(name);
  std::optional<core::ZipImage> image;
  if (replacement != nullptr) {
    if (const auto fits = check_call(replacement->input, replacement->runtime, found->arguments, client); !fits.ok()) {
      return fits.with_context(name);
    }
    LB_ASSIGN_OR_RETURN(image, replacement->bundle.zip());
    conversion.payload = payload_of(*image);
  }
  const auto still_read = [&]() -> Status {
    if (!is_same_file(place, old)) return {};
    const auto now = platform::file_identity(old);
    return now.ok() && *now == mapped.identity() ? Status() : changed_meanwhile(platform::path_to_utf8(place));
  };
  Status status = write_through(
      place, [&](const pte::Sink& sink) { return pte::convert_program(mapped.bytes(), conversion, sink); }, still_read);
  return status.code() == StatusCode::kUnsupported ? status.with_context(name) : status;
}

}  // namespace latebind::app
