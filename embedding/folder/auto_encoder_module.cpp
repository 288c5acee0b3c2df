#include "embedding/folder/auto_encoder_module.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/weights_files.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {

using core::Json;
using core::Status;
using std::filesystem::path;

namespace {

// The defaults of the reference's class.
constexpr std::size_t kHiddenDefault = 512;
constexpr std::size_t kKeptDefault = 8;

}  // namespace

Status read_auto_encoder(const ModelFiles& files, const path& folder, Modules& modules) {
  const path file = folder / "config.json";
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const Json config, read_module_config(files, file));
  DenseModule dense{.place = files.relative(folder) + "/", .activation = graph::ActivationFunction::kRelu};
  LB_ASSIGN_OR_RETURN(const auto in, core::read_size(config, "input_dim", 1, kHiddenSizeMax, name));
  if (!in) return invalid_file(file, "'input_dim' is missing");
  dense.in = *in;
  LB_ASSIGN_OR_RETURN(const auto out, core::read_size(config, "hidden_dim", 1, kHiddenSizeMax, name));
  dense.out = out.value_or(kHiddenDefault);
  LB_ASSIGN_OR_RETURN(const auto kept, core::read_size(config, "k", 1, dense.out, name));
  modules.latents_kept = kept.value_or(kKeptDefault);
  LB_ASSIGN_OR_RETURN(const bool normalizes, core::read_bool(config, "normalize", false, name));
  if (normalizes) return unsupported_file(file, "'normalize' is true; only false is supported");
  modules.files.push_back(file);
  const path weights = single_weights_file(files, folder);
  if (!files.has(weights)) {
    return unsupported_file(
        folder, fmt::format("the module SparseAutoEncoder has neither {} nor {}", kSafetensorsFile, kTorchFile));
  }
  modules.weights.push_back({.file = weights, .place = dense.place, .of_auto_encoder = true});
  modules.after_pooling.emplace_back(std::move(dense));
  return {};
}

}  // namespace latebind::embedding
