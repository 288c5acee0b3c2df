#include "app/jobs/cache.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/text/utc_time.h"

namespace latebind::app {

using core::CompileStore;
using core::Result;

namespace {

Json to_json(const CompileStore::Entry& entry) {
  Json json;
  json["file"] = platform::path_to_utf8(entry.file.filename());
  json["model"] = entry.model;
  json["device"] = entry.device;
  json["runtime_version"] = entry.runtime_version;
  json["precision"] = entry.precision;
  json["bytes"] = entry.bytes;
  json["last_used"] = utc_text(entry.last_used);
  json["damage"] = reason_of(entry.status);
  return json;
}

}  // namespace

std::string utc_text(std::filesystem::file_time_type time) {
  using std::chrono::system_clock;
  // The two clocks have different epochs, but their offset is constant.
  const auto since = time - std::filesystem::file_time_type::clock::now();
  const auto there = system_clock::now() + std::chrono::duration_cast<system_clock::duration>(since);
  return core::utc_text(there);
}

Result<std::unique_ptr<CompileStore>> open_cache(const Settings& settings) {
  LB_ASSIGN_OR_RETURN(auto folder, compile_cache_folder(settings));
  return std::make_unique<CompileStore>(std::move(folder), settings.cache_bytes_max);
}

Result<CacheListing> list_cache(const CompileStore& store) {
  CacheListing listing;
  listing.folder = store.folder();
  LB_ASSIGN_OR_RETURN(listing.entries, store.list());
  for (const CompileStore::Entry& entry : listing.entries)
    listing.bytes += entry.bytes;
  return listing;
}

Result<CacheVerification> verify_cache(CompileStore& store) {
  CacheVerification verification;
  LB_ASSIGN_OR_RETURN(const auto entries, store.list());
  verification.checked = entries.size();
  LB_ASSIGN_OR_RETURN(verification.damaged, store.verify());
  return verification;
}

Json to_json(const CacheListing& listing) {
  Json json;
  json["folder"] = platform::path_to_utf8(listing.folder);
  json["entries"] = Json::array();
  for (const CompileStore::Entry& entry : listing.entries)
    json["entries"].push_back(to_json(entry));
  json["bytes"] = listing.bytes;
  return json;
}

Json to_json(const CacheVerification& verification) {
  Json json;
  json["checked"] = verification.checked;
  json["damaged"] = Json::array();
  for (const CompileStore::Entry& entry : verification.damaged)
    json["damaged"].push_back(to_json(entry));
  return json;
}

Json to_json(const CompileStore::Freed& freed) {
  Json json;
  json["entries"] = freed.entries;
  json["bytes"] = freed.bytes;
  return json;
}

}  // namespace latebind::app
