// The onnxruntime backend: runs models with ONNX Runtime's CPU and with plugin execution providers. Libraries are
// opened at run time. The backend may be used from any thread.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/onnxruntime/find.h"
#include "backends/onnxruntime/provider_trial.h"
#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"
#include "core/backend/child_command.h"

namespace latebind::onnxruntime {

// The places of the vendor library and of plugin providers, instead of a search.
struct BackendOptions {
  // The library file or its folder, UTF-8; overrides the environment and the search. Empty: search.
  std::string library_path{};
  // Full paths of libraries of plugin execution providers, or of folders with them; "none" alone means no providers.
  // Empty: kProvidersVariable, else a search for the packages of known providers. UTF-8.
  std::vector<std::string> provider_paths{};
  // The program `latebind` that tries providers and compiles with them as a child. Empty: core::kTrialVariable, else
  // the program beside this library. UTF-8.
  std::string trial_program{};
  // The folder that stores the results of trials. Empty: the system's cache folder for Latebind.
  std::filesystem::path memory_folder{};
};

// A list as in the loader's path variable, or separated by commas.
inline constexpr const char* kProvidersVariable = "LATEBIND_ONNXRUNTIME_PROVIDERS";

// Splits a list such as "/a:/b,/c"; on Windows, ';' replaces ':'.
[[nodiscard]] std::vector<std::string> provider_paths(std::string_view text);

inline constexpr std::array kSettings{
    core::BackendSetting{
        "onnxruntime.library", kLibraryVariable, "--onnxruntime-library", "PATH",
        "ONNX Runtime's library (libonnxruntime.so…) or its folder. Empty: the known places are searched."},
    core::BackendSetting{"onnxruntime.providers", kProvidersVariable, "--onnxruntime-providers", "PATHS",
                         "Libraries of plugin execution providers for ONNX Runtime (libonnxruntime_providers_….so) or "
                         "folders with them: full paths separated by ':' (';' on Windows) or commas. none: no "
                         "providers. Empty: the known packages are searched."}};

// Creates the backend from its settings. Opens no library.
[[nodiscard]] std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts);

// Creates the backend. Opens no library.
[[nodiscard]] std::shared_ptr<core::Backend> make_backend(BackendOptions options = {});

// What the program `latebind` does as this backend's child.
[[nodiscard]] std::span<const core::ChildCommand> child_commands();

}  // namespace latebind::onnxruntime
