#include "embedding/encoder_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/json_text.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/refusals.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;

namespace {

// Stanford's ColBERT.
bool is_stanford(const std::optional<json>& config) {
  if (!config) return false;
  const auto* const found = core::find_member(*config, "architectures");
  if (found == nullptr || !found->is_array()) return false;
  return std::ranges::any_of(*found, [](const json& name) { return core::is_text(name, "HF_ColBERT"); });
}

}  // namespace

std::string_view network_class(const json& config) {
  const auto* const found = core::find_member(config, "architectures");
  if (found == nullptr || !found->is_array() || found->empty() || !found->front().is_string()) return {};
  return found->front().get_ref<const std::string&>();
}

bool is_colbert(const json& own) {
  const auto* const type = core::find_member(own, "model_type");
  return type != nullptr && core::is_text(*type, "ColBERT");
}

bool has_pylate_keys(const json& own) {
  constexpr std::array kKeys{
      "query_length",          "document_length", "query_expansion", "do_query_expansion", "attend_to_expansion_tokens",
      "attend_to_mask_tokens", "query_prefix",    "document_prefix", "skiplist_words"};
  return std::ranges::any_of(kKeys, [&](const char* key) { return own.contains(key); });
}

bool has_multi_vectors(const ConfigFile& own, bool listed, const std::optional<json>& config) {
  if (!listed) return is_stanford(config);
  if (!own.read) return is_stanford(config);
  const auto* const type = core::find_member(*own.read, "model_type");
  if (type == nullptr) return is_stanford(config) || has_pylate_keys(*own.read);
  return core::is_text(*type, "MultiVectorEncoder") || core::is_text(*type, "ColBERT");
}

Result<EncoderKind> read_encoder_kind(const ConfigFile& own, bool listed, const std::optional<json>& config) {
  if (has_multi_vectors(own, listed, config)) return EncoderKind::kMultiVectorEncoder;
  if (!listed) {
    const bool classifies = config && network_class(*config).ends_with("ForSequenceClassification");
    return classifies ? EncoderKind::kCrossEncoder : EncoderKind::kEmbedder;
  }
  if (!own.read) return EncoderKind::kEmbedder;
  LB_ASSIGN_OR_RETURN(const std::string type,
                      core::read_text(*own.read, "model_type", "", platform::path_to_utf8(own.file)));
  if (type == "CrossEncoder") return EncoderKind::kCrossEncoder;
  if (type == "SparseEncoder") return EncoderKind::kSparseEncoder;
  // The reference takes no word at all for this one, but null and no letters for another.
  if (type == "SentenceTransformer" || !own.read->contains("model_type")) return EncoderKind::kEmbedder;
  constexpr std::array<std::string_view, 5> kTypes{"SentenceTransformer", "CrossEncoder", "SparseEncoder",
                                                   "MultiVectorEncoder", "ColBERT"};
  constexpr std::string_view kListed =
      "supported are SentenceTransformer, which gives one vector for a text, CrossEncoder, SparseEncoder and "
      "MultiVectorEncoder (ColBERT)";
  return unsupported_file(own.file, fmt::format("'model_type' is '{}'{}", core::printable(type),
                                                core::supported_instead(type, kTypes, kListed)));
}

Status wrong_kind(std::string_view model, EncoderKind kind) {
  struct Found {
    std::string_view what;
    std::string_view programs;
  };
  Found found;
  switch (kind) {
    case EncoderKind::kCrossEncoder:
      found = {"is a cross-encoder: it gives scores for two texts together, and no vectors; `latebind rerank` has them",
               "CrossEncoder, in C lb_cross_encoder_open()"};
      break;
    case EncoderKind::kSparseEncoder:
      found = {
          "is a sparse encoder: it gives weights for the words of its vocabulary; `latebind embed --output-format "
          "sparse` has them",
          "SparseEncoder, in C lb_sparse_encoder_open()"};
      break;
    case EncoderKind::kMultiVectorEncoder:
      found = {
          "is a multi-vector encoder: it gives a vector for each token of a text; `latebind embed --output-format "
          "multi-vector` has them, and `latebind search` and `latebind rerank` compare them",
          "MultiVectorEncoder, in C lb_multi_vector_encoder_open()"};
      break;
    case EncoderKind::kEmbedder:
      found = {
          "is an embedder: it gives vectors for texts, and neither scores nor sparse vectors; `latebind embed` has "
          "them, "
          "and `latebind search` compares them",
          "Embedder, in C lb_embedder_open()"};
      break;
  }
  return {StatusCode::kInvalidArgument,
          fmt::format("{} {}; a program opens it as {}", model, found.what, found.programs)};
}

Status role_is_missing(std::string_view model) {
  return {
      StatusCode::kInvalidArgument,
      fmt::format("{} takes queries and documents different ways, and its files name none for other texts: give the "
                  "role of the texts, query or document",
                  model)};
}

}  // namespace latebind::embedding
