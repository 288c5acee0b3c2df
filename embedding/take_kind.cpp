#include "embedding/take_kind.h"

#include <optional>
#include <string>
#include <variant>

#include "core/json_text.h"
#include "core/platform/files/folders.h"
#include "embedding/cross_encoder_config.h"
#include "embedding/model_folder.h"
#include "embedding/refusals.h"

namespace latebind::embedding {

using core::read_size;
using core::Status;
using nlohmann::json;
using std::filesystem::path;

namespace {

// A sparse encoder: modules that give what it needs, and how many weights a text has.
Status take_sparse(const Modules& modules, const ConfigFile& own, const path& list, ModelFolder& model) {
  if (!modules.sparse && !modules.is_term_table) {
    return unsupported_file(list, "a SparseEncoder without SpladePooling or SparseStaticEmbedding is not supported");
  }
  if (own.read && model.kind != EncoderKind::kSparseEncoder) {
    return unsupported_file(own.file, "'model_type' is not SparseEncoder, but the modules are those of one");
  }
  model.kind = EncoderKind::kSparseEncoder;
  model.sparse = modules.sparse.value_or(SparseRule());
  if (!own.read) return {};
  constexpr std::size_t kMostMax = std::size_t{1} << 31;
  LB_ASSIGN_OR_RETURN(const auto most,
                      read_size(*own.read, "max_active_dims", 1, kMostMax, platform::path_to_utf8(own.file)));
  model.sparse.most = most.value_or(0);
  return {};
}

// Whether the default is the name of none that there is. Of other kinds the reference knows two more.
bool names_no_prompt(const ConfigFile& own) {
  if (!own.read) return false;
  const auto* const name = core::find_member(*own.read, "default_prompt_name");
  if (name == nullptr || !name->is_string()) return false;
  const auto* const prompts = core::find_member(*own.read, "prompts");
  return prompts == nullptr || !prompts->is_object() || !prompts->contains(name->get_ref<const std::string&>());
}

}  // namespace

Status take_kind(const Modules& modules, const ConfigFile& own, const std::optional<json>& config,
                 const path& config_file, const std::optional<json>& tokenizer_config, ModelFolder& model) {
  const path list = model.files.place() / "modules.json";
  LB_ASSIGN_OR_RETURN(model.kind, read_encoder_kind(own, modules.listed, config));
  if (modules.sparse || modules.is_term_table || model.kind == EncoderKind::kSparseEncoder) {
    return take_sparse(modules, own, list, model);
  }
  if (modules.router && model.kind != EncoderKind::kEmbedder) {
    return unsupported_file(list, "a Router is supported in embedders and sparse encoders alone");
  }
  if (model.kind == EncoderKind::kMultiVectorEncoder) return {};
  if (model.kind == EncoderKind::kEmbedder) {
    if (modules.scores) return unsupported_file(list, "a module gives scores, but the model is no CrossEncoder");
    if (!modules.only_network() || !modules.listed) return {};
    return unsupported_file(list, "no Pooling module: the model gives no vector for a text");
  }
  if (!config || (!modules.only_network() && !modules.scores && modules.listed)) {
    return unsupported_file(list, "a CrossEncoder of modules that give no scores");
  }
  std::optional<std::size_t> labels;
  if (modules.scores) labels = std::get<DenseModule>(modules.behind.back()).out;
  LB_ASSIGN_OR_RETURN(model.scores, read_cross_encoder(own, *config, config_file, labels));
  if (!model.prompts.by_default.empty() || names_no_prompt(own)) {
    return unsupported_file(own.file, "'default_prompt_name' of a CrossEncoder is not supported");
  }
  model.token_types = tells_token_types(*config, tokenizer_config, tokenizer_of_network(*config));
  return {};
}

}  // namespace latebind::embedding
