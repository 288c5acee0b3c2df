// The onnxruntime backend of Latebind.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.h"

namespace latebind::onnxruntime {

// Where to find the vendor library and plugin providers, when not by the search.
struct BackendOptions {
  // The library file or its folder; wins over the environment and the search. UTF-8. Empty: search.
  std::string library_path{};
  // Libraries of plugin execution providers, or folders with them: full paths; the word "none" alone: no providers.
  // Empty: kProvidersVariable, else the packages of the known ones are looked for. UTF-8.
  std::vector<std::string> provider_paths{};
  // The program `latebind`, in which providers are tried and compile; empty: LATEBIND_PROBE_PROGRAM, else found beside
  // this library. UTF-8.
  std::string worker_program{};
  // Where trials of providers are remembered; empty: the system's cache folder for Latebind.
  std::filesystem::path memory_folder{};
};

// A list as in the loader's path variable, or with commas.
inline constexpr const char* kProvidersVariable = "LATEBIND_ONNXRUNTIME_PROVIDERS";

// "/a:/b,/c" as a list, with ';' instead of ':' on Windows.
[[nodiscard]] std::vector<std::string> provider_paths(std::string_view text);

// Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> make_backend(BackendOptions options = {});

// What the hidden commands of the program `latebind` do when this backend starts it as a child: each gives one line for
// its standard output. See provider_trial.h and provider_worker.h.
[[nodiscard]] std::string probe_provider(const std::string& runtime_file, const std::string& provider_file);
[[nodiscard]] std::string run_compile_job(const std::string& job_file);

}  // namespace latebind::onnxruntime
