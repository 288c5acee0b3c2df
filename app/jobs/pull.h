// Downloads a model from the hub into the hub's cache.
#pragma once

#include <string>

#include "app/client.h"
#include "app/json_text.h"
#include "core/result.h"
#include "embedding/hub/snapshot.h"

namespace latebind::app {

struct PullReport {
  embedding::hub::ModelName name;
  embedding::hub::Snapshot snapshot;
};

// Compares cached files with the hub's and downloads those that differ, or with `force` all that are needed.
// `onnx_file` is that of hub::SnapshotOptions. Returns the errors of hub::snapshot().
[[nodiscard]] core::Result<PullReport> pull(const embedding::hub::ModelName& name, bool force,
                                            const std::string& onnx_file, const Client& client);

// {model, revision, commit, folder, from_cache, loaded_bytes, files: [{name, bytes, loaded}]}
[[nodiscard]] Json to_json(const PullReport& report);

}  // namespace latebind::app
