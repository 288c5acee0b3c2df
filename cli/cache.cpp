// latebind cache: what was compiled and kept.
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "cli/byte_sink.h"
#include "cli/json_text.h"
#include "cli/parser.h"
#include "cli/setting_flags.h"
#include "cli/units.h"
#include "core/compile_store.h"
#include "core/platform/folders.h"

namespace latebind::cli {
namespace {

using core::CompileStore;

struct CacheArguments {
  SettingFlags flags{};
  bool json = false;

  void add_to(CLI::App& app, const std::string& json_help) {
    app.add_flag("--json", json, json_help);
    static constexpr SettingGroup kGroups[] = {SettingGroup::kCache};
    flags.add_to(app, kGroups);
  }
};

// Does `command` with the store that the settings name, if they make sense.
Exit with_store(const CacheArguments& options, const std::string& name, Exit (*command)(bool as_json, CompileStore&)) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("cache " + name, settings.status().message());
  const auto folder = app::compile_cache_folder(settings->values());
  if (!folder.ok()) return fail(folder.status());
  CompileStore store(*folder, settings->values().cache_bytes_max);
  return command(options.json, store);
}

// "2026-11-21T13:05:09Z"
std::string text_of(std::filesystem::file_time_type time) {
  using std::chrono::system_clock;
  // The two clocks count from different years; their difference is the same at any time.
  const auto since = time - std::filesystem::file_time_type::clock::now();
  const auto there = system_clock::now() + std::chrono::duration_cast<system_clock::duration>(since);
  const std::time_t seconds = system_clock::to_time_t(there);
  const std::tm* utc = std::gmtime(&seconds);  // one thread only
  char text[32] = "";
  if (utc != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", utc);
  return text;
}

Json to_json(const CompileStore::Entry& entry) {
  Json json;
  json["file"] = platform::path_to_utf8(entry.file.filename());
  json["model"] = entry.model;
  json["device"] = entry.device;
  json["runtime_version"] = entry.runtime_version;
  json["precision"] = entry.precision;
  json["bytes"] = entry.bytes;
  json["last_used"] = text_of(entry.last_used);
  json["damage"] = reason_of(entry.status);
  return json;
}

std::string to_line(const CompileStore::Entry& entry) {
  const std::string name = platform::path_to_utf8(entry.file.filename()).substr(0, 12);
  if (!entry.status.ok()) {
    return fmt::format("{}  {:8.1f} MiB  {}\n", name, mebibytes(entry.bytes), one_line(entry.status.to_string()));
  }
  return fmt::format("{}  {:8.1f} MiB  {}  {} ({}), {}, {}\n", name, mebibytes(entry.bytes), text_of(entry.last_used),
                     one_line(entry.model), one_line(entry.device), one_line(entry.runtime_version),
                     one_line(entry.precision));
}

Exit list(bool as_json, CompileStore& store) {
  const auto entries = store.list();
  if (!entries.ok()) return fail(entries.status());
  const std::string folder = platform::path_to_utf8(store.folder());
  std::uint64_t total = 0;
  std::string text;
  Json json;
  json["folder"] = folder;
  json["entries"] = Json::array();
  for (const auto& entry : *entries) {
    total += entry.bytes;
    text += to_line(entry);
    json["entries"].push_back(to_json(entry));
  }
  json["bytes"] = total;
  text += fmt::format("{} compiled models, {:.1f} MiB, in {}\n", entries->size(), mebibytes(total), one_line(folder));
  const auto printed = print(as_json ? to_text(json) : text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

Exit clear(bool as_json, CompileStore& store) {
  const auto freed = store.clear();
  if (!freed.ok()) return fail(freed.status());
  Json json;
  json["entries"] = freed->entries;
  json["bytes"] = freed->bytes;
  const auto printed =
      print(as_json ? to_text(json)
                    : fmt::format("removed {} compiled models, {:.1f} MiB\n", freed->entries, mebibytes(freed->bytes)));
  return printed.ok() ? Exit::kGood : fail(printed);
}

Exit verify(bool as_json, CompileStore& store) {
  const auto entries = store.list();
  if (!entries.ok()) return fail(entries.status());
  const auto damaged = store.verify();
  if (!damaged.ok()) return fail(damaged.status());
  std::string text;
  Json json;
  json["checked"] = entries->size();
  json["damaged"] = Json::array();
  for (const auto& entry : *damaged) {
    text += to_line(entry);
    json["damaged"].push_back(to_json(entry));
  }
  text += damaged->empty() ? fmt::format("all {} compiled models are as they were written\n", entries->size())
                           : fmt::format(
                                 "{} of {} compiled models were damaged; they are removed and will be compiled "
                                 "again\n",
                                 damaged->size(), entries->size());
  const auto printed = print(as_json ? to_text(json) : text);
  if (!printed.ok()) return fail(printed);
  return damaged->empty() ? Exit::kGood : Exit::kFailed;
}

void add_one(CLI::App& cache, Action& chosen, const std::string& name, const std::string& what,
             const std::string& json_help, Exit (*command)(bool as_json, CompileStore&)) {
  auto options = std::make_shared<CacheArguments>();
  CLI::App& app = *cache.add_subcommand(name, what);
  options->add_to(app, json_help);
  app.callback([options, name, command, &chosen] {
    chosen = [options, name, command] { return with_store(*options, name, command); };
  });
}

}  // namespace

void add_cache(CLI::App& program, Action& chosen) {
  CLI::App& app = *program.add_subcommand("cache", "Shows, checks and removes compiled models that are kept.");
  app.require_subcommand(1);
  add_one(app, chosen, "list", "Lists compiled models, most recently used first.",
          "Prints {folder, entries: [{file, model, device, runtime_version, precision, bytes, last_used, damage}], "
          "bytes}.",
          &list);
  add_one(app, chosen, "clear", "Removes all compiled models.", "Prints {entries, bytes}: what was removed.", &clear);
  add_one(app, chosen, "verify", "Reads every compiled model whole; exit status 1 when one was damaged.",
          "Prints {checked, damaged: [...]}, entries as `latebind cache list --json` shows them.", &verify);
  app.footer(
      "A compiled model is used again when model, device, vendor version and every option are the\n"
      "same; whatever is wrong with one costs no more than compiling it again.");
}

}  // namespace latebind::cli
