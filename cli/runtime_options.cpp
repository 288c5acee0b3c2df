#include "cli/runtime_options.h"

#include <fmt/format.h>

#include "cli/messages.h"
#include "cli/parser.h"
#include "core/platform/folders.h"

namespace latebind::cli {

using core::Result;
using core::Status;
using core::StatusCode;

void LibraryOptions::add_to(CLI::App& app) {
  constexpr const char* kGroup = "Vendor libraries";
  add_text(app, "--openvino-library", paths.openvino_library, "PATH",
           "OpenVINO's C library (libopenvino_c.so...) or its folder. Wins over "
           "LATEBIND_OPENVINO_LIBRARY, OPENVINO_LIB_PATH and the search (default: search).")
      ->group(kGroup);
  add_text(app, "--onnxruntime-library", paths.onnxruntime_library, "PATH",
           "ONNX Runtime's library (libonnxruntime.so...) or its folder. Wins over "
           "LATEBIND_ONNXRUNTIME_LIBRARY and the search (default: search).")
      ->group(kGroup);
}

void RuntimeOptions::add_to(CLI::App& app) {
  constexpr const char* kGroup = "Device";
  add_text(app, "--device", device, "PLACEMENT",
           "Devices to try, in order, with commas: auto, npu, gpu, cpu, a backend (openvino, "
           "onnxruntime) or a device as `latebind devices` lists it (openvino:CPU). The default, "
           "auto, is npu, then gpu, then cpu.")
      ->group(kGroup);
  app.add_flag("--strict", strict,
               "Fails instead of falling back to a device further down the list (default: falls "
               "back and says why).")
      ->group(kGroup);
  add_word(app, "--precision", precision,
           "Precision of the computation: f32, bf16 or f16 (default f32). bf16 is about twice as "
           "fast where the processor has it and changes vectors in the fourth digit.")
      ->group(kGroup);
  add_integer(app, "--threads", threads, 0, 1024,
              "Threads for computing, all requests together (default 0: as many as the processors "
              "this process may use).")
      ->group(kGroup);
  add_integer(app, "--requests", requests, 0, 256,
              "Requests that run side by side on the device (default 0: what the vendor finds best).")
      ->group(kGroup);
  add_texts(app, "--property", properties, "KEY=VALUE",
            "Passes a property to the vendor as it is, after all others. May be given several "
            "times.")
      ->group(kGroup);
  app.add_option_function<std::string>(
         "--cache",
         [this](const std::string& given) {
           if (given != "true" && given != "false") {
             throw CLI::ValidationError(fmt::format("--cache must be true or false, not '{}'", given));
           }
           cache = given == "true";
         },
         "Keeps compiled models, and loads them from there at the next start (default true). See "
         "`latebind cache`.")
      ->type_name("true|false")
      ->group(kGroup);
  add_text(app, "--cache-folder", cache_folder, "DIR",
           "Folder for compiled models (default: compiled, in Latebind's cache folder as `latebind "
           "doctor` shows it).")
      ->group(kGroup);
  libraries.add_to(app);
}

Result<std::filesystem::path> compile_cache_folder(const std::string& given) {
  if (!given.empty()) return platform::path_from_utf8(given);
  LB_ASSIGN_OR_RETURN(const auto folder, platform::cache_folder());
  return folder / "compiled";
}

Result<core::LoadOptions> RuntimeOptions::load_options(core::PerformanceHint hint) const {
  core::LoadOptions load;
  load.strict = strict;
  load.compile.precision = precision;
  load.compile.hint = hint;
  load.compile.threads = threads;
  load.compile.requests = requests;
  if (cache) {
    // Without a home folder there is no cache, which is no reason not to work.
    if (const auto folder = compile_cache_folder(cache_folder); folder.ok()) {
      load.cache = std::make_shared<core::CompileCache>(*folder);
    }
  }
  for (const std::string& property : properties) {
    const auto equals = property.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Status(StatusCode::kInvalidArgument, fmt::format("--property must be KEY=VALUE, not '{}'", property));
    }
    load.compile.properties[property.substr(0, equals)] = property.substr(equals + 1);
  }
  return load;
}

Result<Runtime> Runtime::make(const RuntimeOptions& options, core::PerformanceHint hint) {
  Runtime runtime;
  runtime.registry = api::make_registry(options.libraries.paths);
  LB_ASSIGN_OR_RETURN(runtime.placement, core::Placement::parse(options.device, runtime.registry));
  LB_ASSIGN_OR_RETURN(runtime.load, options.load_options(hint));
  return runtime;
}

std::string describe(const core::ActiveConfig& active) {
  std::string vendor = active.device_full_name;
  if (!active.runtime_version.empty()) {
    vendor += fmt::format("{}runtime {}", vendor.empty() ? "" : ", ", active.runtime_version);
  }
  return fmt::format("{}:{}{}{}{}, {}", active.backend, active.device, vendor.empty() ? "" : " (", vendor,
                     vendor.empty() ? "" : ")", core::word_of(active.precision));
}

void note_fallback(const core::Attestation& attestation) {
  if (attestation.fallback) note(fmt::format("fallback: {}", attestation.reason));
}

void note_takeover(const core::Attestation& before, const core::Attestation& after) {
  const bool same = before.active.backend == after.active.backend && before.active.device == after.active.device;
  if (!same) note_fallback(after);
}

}  // namespace latebind::cli
