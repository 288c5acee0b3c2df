#include "app/jobs/pull.h"

#include <utility>

#include "app/model_source.h"
#include "core/platform/files/folders.h"

namespace latebind::app {

namespace hub = embedding::hub;

core::Result<PullReport> pull(const hub::ModelName& name, bool force, const std::string& onnx_file,
                              const Client& client) {
  const auto content = force ? hub::CachedContent::kReplaced : hub::CachedContent::kCompared;
  LB_ASSIGN_OR_RETURN(auto snapshot, pull_model(name, onnx_file, client, content));
  LB_RETURN_IF_ERROR(find_base_of(snapshot.folder, client));
  return PullReport{name, std::move(snapshot)};
}

Json to_json(const PullReport& report) {
  const hub::Snapshot& snapshot = report.snapshot;
  Json json;
  json["model"] = report.name.id;
  json["revision"] = report.name.revision;
  json["commit"] = snapshot.commit;
  json["folder"] = platform::path_to_utf8(snapshot.folder);
  json["from_cache"] = snapshot.from_cache;
  json["loaded_bytes"] = snapshot.loaded_bytes;
  json["files"] = Json::array();
  for (const hub::SnapshotFile& file : snapshot.files) {
    Json& entry = json["files"].emplace_back();
    entry["name"] = file.name;
    entry["bytes"] = file.bytes;
    entry["loaded"] = file.loaded;
  }
  return json;
}

}  // namespace latebind::app
