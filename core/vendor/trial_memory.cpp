#include "core/vendor/trial_memory.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "core/json/parse.h"
#include "core/log.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"

namespace latebind::core {
namespace {

constexpr std::size_t kBytesMax = std::size_t{256} << 10;
constexpr std::size_t kEntriesMax = 64;

}  // namespace

Result<TrialMemory> TrialMemory::in(const std::filesystem::path& folder, std::string_view name, int format) {
  if (!folder.empty()) return TrialMemory(folder / name, format);
  LB_ASSIGN_OR_RETURN(const auto cache, platform::cache_folder());
  return TrialMemory(cache / name, format);
}

std::optional<Json> TrialMemory::find(std::string_view key) const {
  const Json entries = read();
  const Json* const found = entries.find(key);
  if (found == nullptr || !found->is_object()) return std::nullopt;
  return *found;
}

void TrialMemory::keep(const std::string& key, Json entry, const std::string& what) const {
  Json entries = read();
  if (entry.is_null()) {
    if (!entries.erase(key)) return;
  } else {
    // Any entries can be dropped if there are too many, since each costs only another trial.
    while (entries.size() >= kEntriesMax && !entries.contains(key))
      entries.erase(entries.members().front().first);
    entries[key] = std::move(entry);
  }
  if (const auto status = write(entries); !status.ok())
    log(LogLevel::kDebug, fmt::format("the result of trying {} is not kept: {}", what, status.brief()));
}

// The trials; an empty object if Latebind did not write the file.
Json TrialMemory::read() const {
  if (!platform::check_folder_trust(file_).ok()) return Json::object();
  const auto mapped = platform::MappedFile::open(file_);
  if (!mapped.ok() || mapped->bytes().size() > kBytesMax) return Json::object();
  const auto bytes = mapped->bytes();
  const Json memory = json_or_null({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!memory.is_object() || memory.value("format", Json()) != Json(format_)) return Json::object();
  Json trials = memory.value("trials", Json());
  return trials.is_object() ? trials : Json::object();
}

Status TrialMemory::write(const Json& entries) const {
  // Checked before anything is created in another user's folder, and again for what exists afterwards.
  LB_RETURN_IF_ERROR(platform::check_folder_trust(file_.parent_path()));
  LB_RETURN_IF_ERROR(platform::make_private_folder(file_.parent_path()));
  LB_RETURN_IF_ERROR(platform::check_folder_trust(file_));
  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file_));
  const Json memory{{"format", format_}, {"trials", entries}};
  LB_RETURN_IF_ERROR(output.write(memory.dump(1) + "\n"));
  return output.commit_unsynced();
}

}  // namespace latebind::core
