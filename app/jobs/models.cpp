#include "app/jobs/models.h"

#include <algorithm>
#include <array>

#include "core/platform/files/folders.h"
#include "embedding/hub/settings.h"
#include "embedding/outputs/output.h"

namespace latebind::app {

namespace hub = embedding::hub;
using core::Result;

namespace {

constexpr std::string_view kEnglish = "English";

constexpr std::array kRecommended{
    RecommendedModel{"minishlab/potion-base-8M", "dense", "static",
                     "a table instead of a network: much faster than all others, and less accurate", 30, 256, kEnglish,
                     "MIT"},
    RecommendedModel{"sentence-transformers/all-MiniLM-L6-v2", "dense", "bert",
                     "the usual first choice: small, fast, good for short texts", 91, 384, kEnglish, "Apache-2.0"},
    RecommendedModel{"BAAI/bge-small-en-v1.5", "dense", "bert", "search over passages, at the size of MiniLM", 133, 384,
                     kEnglish, "MIT"},
    RecommendedModel{"Alibaba-NLP/gte-modernbert-base", "dense", "modernbert",
                     "search over long texts, up to 8,192 tokens, and code", 298, 768, kEnglish, "Apache-2.0"},
    RecommendedModel{"sentence-transformers/all-mpnet-base-v2", "dense", "mpnet",
                     "similarity of sentences, more accurate than MiniLM and slower", 438, 768, kEnglish, "Apache-2.0"},
    RecommendedModel{"sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "dense", "bert",
                     "similarity of short texts across languages", 471, 384, "50 languages", "Apache-2.0"},
    RecommendedModel{"mixedbread-ai/mxbai-embed-large-v1", "dense", "bert",
                     "search when quality matters more than speed; vectors may be cut", 670, 1024, kEnglish,
                     "Apache-2.0"},
    RecommendedModel{"Qwen/Qwen3-Embedding-0.6B", "dense", "qwen3",
                     "search across languages and code, long texts, instructions before the query", 1192, 1024,
                     "100 languages", "Apache-2.0"},
    RecommendedModel{"Snowflake/snowflake-arctic-embed-l-v2.0", "dense", "xlm-roberta",
                     "search across languages, texts up to 8,192 tokens", 2271, 1024, "74 languages", "Apache-2.0"},
    RecommendedModel{"lightonai/GTE-ModernColBERT-v1", "multi_vector", "modernbert",
                     "search and reranking by the vectors of tokens (ColBERT)", 596, 128, kEnglish, "Apache-2.0"},
    RecommendedModel{"cross-encoder/ms-marco-MiniLM-L6-v2", "score", "bert", "reranking, small and fast", 91, 0,
                     kEnglish, "Apache-2.0"},
    RecommendedModel{"BAAI/bge-reranker-v2-m3", "score", "xlm-roberta", "reranking across languages", 2271, 0,
                     "100 languages", "Apache-2.0"},
};

}  // namespace

std::span<const RecommendedModel> recommended_models() {
  return kRecommended;
}

embedding::Licence licence_of(const hub::CachedModel& model) {
  for (const hub::CachedRevision& revision : model.revisions) {
    const auto files = embedding::ModelFiles::open(model.folder / "snapshots" / revision.commit);
    if (!files.ok()) continue;
    if (embedding::Licence licence = embedding::read_licence(*files); !licence.name.empty()) return licence;
  }
  return {};
}

bool ModelsReport::has(std::string_view id) const {
  const auto found = std::ranges::find(cached, id, &hub::CachedModel::id);
  return found != cached.end() && std::ranges::any_of(found->revisions, &hub::CachedRevision::is_usable);
}

Result<ModelsReport> list_models() {
  LB_ASSIGN_OR_RETURN(const auto settings, hub::Settings::from_environment());
  ModelsReport report{.cache_folder = platform::path_to_utf8(settings.cache_folder)};
  LB_ASSIGN_OR_RETURN(report.cached, hub::cached_models(settings.cache_folder));
  return report;
}

Json to_json(const ModelsReport& report) {
  Json json;
  json["recommended"] = Json::array();
  for (const RecommendedModel& model : kRecommended) {
    Json& entry = json["recommended"].emplace_back();
    entry["model"] = model.id;
    entry["kind"] = embedding::find_output_kind(model.output)->model;
    entry["network"] = model.network;
    entry["good_for"] = model.good_for;
    entry["megabytes"] = model.megabytes;
    entry["dimension"] = model.dimension;
    entry["languages"] = model.languages;
    entry["licence"] = model.licence;
    entry["cached"] = report.has(model.id);
  }
  Json& cache = json["cache"];
  cache["folder"] = report.cache_folder;
  std::uint64_t bytes = 0;
  for (const hub::CachedModel& model : report.cached)
    bytes += model.bytes;
  cache["bytes"] = bytes;
  cache["models"] = Json::array();
  for (const hub::CachedModel& model : report.cached) {
    Json& entry = cache["models"].emplace_back();
    entry["model"] = model.id;
    entry["bytes"] = model.bytes;
    entry["revisions"] = Json::array();
    entry["licence"] = licence_of(model).describe();
    for (const hub::CachedRevision& revision : model.revisions) {
      Json& one = entry["revisions"].emplace_back();
      one["commit"] = revision.commit;
      one["refs"] = revision.refs;
      one["usable"] = revision.is_usable;
    }
  }
  return json;
}

Result<hub::Removal> plan_model_removal(const std::string& name) {
  LB_ASSIGN_OR_RETURN(const auto settings, hub::Settings::from_environment());
  LB_ASSIGN_OR_RETURN(const auto cached, hub::cached_models(settings.cache_folder));
  const auto at = name.find('@');
  LB_ASSIGN_OR_RETURN(const auto model, hub::find_cached(cached, name.substr(0, at)));
  return hub::plan_removal(settings.cache_folder, model, at == std::string::npos ? "" : name.substr(at + 1));
}

Json to_json(const hub::Removal& removal) {
  Json json;
  json["model"] = removal.id;
  json["commit"] = removal.commit ? Json(*removal.commit) : Json();
  json["bytes"] = removal.bytes;
  json["files"] = removal.files.size();
  json["kept"] = removal.kept;
  return json;
}

}  // namespace latebind::app
