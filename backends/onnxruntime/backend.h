// The onnxruntime backend of Latebind.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/onnxruntime/find.h"
#include "backends/onnxruntime/provider_trial.h"
#include "core/backend.h"
#include "core/backend_setting.h"

namespace latebind::onnxruntime {

// Where to find the vendor library and plugin providers, instead of searching.
struct BackendOptions {
  // The library file or its folder; wins over the environment and the search. UTF-8. Empty: search.
  std::string library_path{};
  // Libraries of plugin execution providers, or folders with them: full paths; the word "none" alone: no providers.
  // Empty: kProvidersVariable, else the packages of the known ones are looked for. UTF-8.
  std::vector<std::string> provider_paths{};
  // The program `latebind`, in which providers are tried and compile; empty: kTrialVariable, else found beside
  // this library. UTF-8.
  std::string trial_program{};
  // Where trials of providers are remembered; empty: the system's cache folder for Latebind.
  std::filesystem::path memory_folder{};
};

// A list as in the loader's path variable, or with commas.
inline constexpr const char* kProvidersVariable = "LATEBIND_ONNXRUNTIME_PROVIDERS";

// "/a:/b,/c" as a list, with ';' instead of ':' on Windows.
[[nodiscard]] std::vector<std::string> provider_paths(std::string_view text);

inline constexpr std::array kSettings{
    core::BackendSetting{"onnxruntime.library", kLibraryVariable, "--onnxruntime-library", "PATH",
                         "ONNX Runtime's library (libonnxruntime.so…) or its folder. Empty: the known places are searched."},
    core::BackendSetting{
        "onnxruntime.providers", kProvidersVariable, "--onnxruntime-providers", "PATHS",
        "Libraries of plugin execution providers for ONNX Runtime (libonnxruntime_providers_….so) or folders with them: full paths separated by ':' (';' on Windows) or commas. none: no providers. Empty: the known packages are searched."},
    core::BackendSetting{
        "onnxruntime.trial_program", kTrialVariable, "", "PATH",
        "The program `latebind`, which tries plugin providers and compiles with them in its own process. Empty: this program, or the one beside Latebind's library."}};

// As kSettings say. Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

// Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> make_backend(BackendOptions options = {});

// What the hidden commands of the program `latebind` do when this backend starts it as a child: each returns one line
// for its standard output. See provider_trial.h and provider_compile.h.
[[nodiscard]] std::string run_trial(const std::string& runtime_file, const std::string& provider_file);
[[nodiscard]] std::string run_compile_job(const std::string& job_file);

}  // namespace latebind::onnxruntime
