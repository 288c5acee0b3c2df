// latebind cache: lists, verifies and clears the compile cache.
#include "app/jobs/cache.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/data/units.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/setting_flags.h"
#include "core/platform/files/folders.h"
#include "core/text/counted.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

using core::CompileStore;

struct CacheArguments {
  SettingFlags flags{};
  bool json = false;

  void add_to(Command& app, const std::string& json_help) {
    app.add_flag("--json", json, json_help);
    static constexpr SettingGroup kGroups[] = {SettingGroup::kCache};
    flags.add_to(app, kGroups);
  }
};

// Runs `command` with the cache that the settings name, if they are valid.
Exit with_store(const CacheArguments& options, const std::string& name, Exit (*command)(bool as_json, CompileStore&)) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("cache " + name, settings.status().message());
  const auto store = app::open_cache(settings->values());
  if (!store.ok()) return fail(store.status());
  return command(options.json, **store);
}

std::string to_line(const CompileStore::Entry& entry) {
  const std::string name = platform::path_to_utf8(entry.file.filename()).substr(0, 12);
  if (!entry.status.ok()) {
    return fmt::format("{}  {:8.1f} MiB  {}\n", name, mebibytes(entry.bytes), core::one_line(entry.status.to_string()));
  }
  return fmt::format("{}  {:8.1f} MiB  {}  {} ({}), {}, {}\n", name, mebibytes(entry.bytes),
                     app::utc_text(entry.last_used), core::one_line(entry.model), core::one_line(entry.device),
                     core::one_line(entry.runtime_version), core::one_line(entry.precision));
}

Exit list(bool as_json, CompileStore& store) {
  const auto listing = app::list_cache(store);
  if (!listing.ok()) return fail(listing.status());
  std::string text;
  for (const auto& entry : listing->entries)
    text += to_line(entry);
  text += fmt::format("{}, {:.1f} MiB, in {}\n", core::counted(listing->entries.size(), "compiled model"),
                      mebibytes(listing->bytes), core::one_line(platform::path_to_utf8(listing->folder)));
  const auto printed = print(as_json ? app::to_text(app::to_json(*listing)) : text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

Exit clear(bool as_json, CompileStore& store) {
  const auto freed = store.clear();
  if (!freed.ok()) return fail(freed.status());
  const auto printed =
      print(as_json ? app::to_text(app::to_json(*freed))
                    : fmt::format("removed {}, {:.1f} MiB\n", core::counted(freed->entries, "compiled model"),
                                  mebibytes(freed->bytes)));
  return printed.ok() ? Exit::kGood : fail(printed);
}

Exit verify(bool as_json, CompileStore& store) {
  const auto verification = app::verify_cache(store);
  if (!verification.ok()) return fail(verification.status());
  const auto& damaged = verification->damaged;
  std::string text;
  for (const auto& entry : damaged)
    text += to_line(entry);
  text +=
      damaged.empty()
          ? fmt::format("all {} compiled models are intact\n", verification->checked)
          : fmt::format("{} of {} compiled models were damaged; they have been removed and will be compiled again\n",
                        damaged.size(), verification->checked);
  const auto printed = print(as_json ? app::to_text(app::to_json(*verification)) : text);
  if (!printed.ok()) return fail(printed);
  return damaged.empty() ? Exit::kGood : Exit::kFailed;
}

void add_one(Command& cache, Action& chosen, const std::string& name, const std::string& what,
             const std::string& json_help, Exit (*command)(bool as_json, CompileStore&)) {
  auto options = std::make_shared<CacheArguments>();
  Command& app = *cache.add_subcommand(name, what);
  options->add_to(app, json_help);
  app.callback([options, name, command, &chosen] {
    chosen = [options, name, command] { return with_store(*options, name, command); };
  });
}

}  // namespace

void add_cache(Command& program, Action& chosen) {
  Command& app = *program.add_subcommand("cache", "Lists, checks and removes the compiled models in the cache.");
  app.require_subcommand();
  add_one(app, chosen, "list", "Lists compiled models, most recently used first.",
          "Prints {folder, entries: [{file, model, device, runtime_version, precision, bytes, last_used, damage}], "
          "bytes}.",
          &list);
  add_one(app, chosen, "clear", "Removes all compiled models.", "Prints {entries, bytes}: what was removed.", &clear);
  add_one(app, chosen, "verify", "Reads every compiled model completely. The exit status is 1 if one was damaged.",
          "Prints {checked, damaged: [...]}, with entries as in `latebind cache list --json`.", &verify);
  app.footer(
      "A compiled model is reused when model, device, vendor version and every option are the same.\n"
      "A damaged one is compiled again.");
}

}  // namespace latebind::cli
