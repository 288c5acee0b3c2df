// The options that every command with a device shares: where vendor libraries are, which device, how it computes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api/backends.h"
#include "core/engine.h"
#include "core/placement.h"
#include "core/registry.h"
#include "core/result.h"

namespace CLI {
class App;
}

namespace latebind::cli {

// --openvino-library, --onnxruntime-library
struct LibraryOptions {
  api::BackendPaths paths{};

  void add_to(CLI::App& app);
};

// --device, --strict, --precision, --threads, --requests, --property, --cache, --cache-folder, and the above.
struct RuntimeOptions {
  LibraryOptions libraries{};
  std::string device = "auto";
  bool strict = false;
  core::Precision precision = core::Precision::kF32;
  unsigned threads = 0;
  unsigned requests = 0;
  std::vector<std::string> properties{};  // KEY=VALUE
  bool cache = true;
  std::string cache_folder{};  // empty: the standard one

  void add_to(CLI::App& app);
  // kInvalidArgument when a property is not KEY=VALUE: a mistake in the command line.
  [[nodiscard]] core::Result<core::LoadOptions> load_options(core::PerformanceHint hint) const;
};

// Backends, engine, and where to place the model. Loads nothing. Keep it longer than what it loads.
struct Runtime {
  core::Registry registry;
  core::Placement placement;
  core::LoadOptions load;

  [[nodiscard]] core::Engine engine() const { return core::Engine(registry); }

  // Errors are mistakes in the command line.
  static core::Result<Runtime> make(const RuntimeOptions& options, core::PerformanceHint hint);
};

// The folder of the compile cache: `given`, or the standard one. UTF-8.
[[nodiscard]] core::Result<std::filesystem::path> compile_cache_folder(const std::string& given);

// "openvino:CPU (AMD EPYC …, runtime 2026.4.1-…), f32"
[[nodiscard]] std::string describe(const core::ActiveConfig& active);

// Says the reason when something else than the preferred device answers. Once per loaded model.
void note_fallback(const core::Attestation& attestation);

// Says so when another device took over after loading: `before` and `after` are what was attested then and is now.
void note_takeover(const core::Attestation& before, const core::Attestation& after);

}  // namespace latebind::cli
