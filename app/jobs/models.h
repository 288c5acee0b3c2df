// Lists recommended models and those in the hub's cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json_text.h"
#include "core/result.h"
#include "embedding/folder/licence.h"
#include "embedding/hub/cache_contents.h"

namespace latebind::app {

// The facts about a model that this release contains. None of them is requested from the hub.
struct RecommendedModel {
  std::string_view id;
  std::string_view output;   // the name of the output that it gives by default
  std::string_view network;  // the model_type of config.json; "static" for a model without a network
  std::string_view good_for;
  std::uint32_t megabytes;  // size of the files that are loaded
  std::uint32_t dimension;  // of a vector; 0: the model gives scores
  std::string_view languages;
  std::string_view licence;  // SPDX identifier
};
// Sorted by output, then by size.
[[nodiscard]] std::span<const RecommendedModel> recommended_models();

struct ModelsReport {
  std::string cache_folder{};
  std::vector<embedding::hub::CachedModel> cached{};

  // Whether the cache has a complete revision of the model (CachedRevision::is_usable).
  [[nodiscard]] bool has(std::string_view id) const;
};
// Returns the errors of hub::Settings::from_environment() and hub::cached_models().
[[nodiscard]] core::Result<ModelsReport> list_models();

// Returns the licence that the model's card in the cache names.
[[nodiscard]] embedding::Licence licence_of(const embedding::hub::CachedModel& model);

// {recommended: [{model, kind, network, good_for, megabytes, dimension, languages, licence, cached}],
// cache: {folder, bytes, models: [{model, bytes, licence: {name, forbids_commerce} or null, revisions: [{commit, refs,
// usable}]}]}}
[[nodiscard]] Json to_json(const ModelsReport& report);

// Returns what removing NAME or NAME@REVISION from the cache would remove. Returns the errors of hub::find_cached() and
// hub::plan_removal().
[[nodiscard]] core::Result<embedding::hub::Removal> plan_model_removal(const std::string& name);
// {model, commit, bytes, files, kept}
[[nodiscard]] Json to_json(const embedding::hub::Removal& removal);

}  // namespace latebind::app
