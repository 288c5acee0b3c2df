// latebind backends: lists the backends, and adds and removes plug-ins.
#include "app/jobs/backends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "app/backends.h"
#include "app/settings.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "cli/terminal/setting_flags.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

constexpr SettingGroup kBackendGroups[] = {SettingGroup::kBackends};

struct ListArguments {
  SettingFlags flags{};
  bool json = false;
  bool retry = false;
};

// "toy            ready        1.2, toy:CPU": a line, and below it what a plug-in is made of.
std::string for_people(const app::BackendListing::OfBackend& one) {
  const std::string version = core::one_line(one.version);
  std::string text = fmt::format(
      "{:<14} {:<12} {}\n", one.name.empty() ? "-" : one.name, one.state,
      one.reason.empty() ? fmt::format("{}{}{}", version, version.empty() ? "" : ", ", fmt::join(one.devices, ", "))
                         : core::one_line(one.reason));
  if (one.is_built_in) return text;
  text += fmt::format("    manifest {} ({})\n", core::one_line(one.file), core::one_line(one.source));
  if (!one.library.empty()) text += fmt::format("    library  {}\n", core::one_line(one.library));
  if (!one.description.empty()) text += fmt::format("    {}\n", core::one_line(one.description));
  for (const auto& setting : one.settings) {
    text += fmt::format("    {}{}.{} = {}: {}\n", app::kPluginSettings, one.name, setting.key,
                        core::one_line(setting.value), core::one_line(setting.help));
  }
  return text;
}

Exit list(const ListArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("backends", settings.status().message());
  const auto texts = settings->of_backends();
  const auto listing = app::list_backends(app::make_registry(texts), texts, options.retry, {});
  if (!listing.ok()) return fail(listing.status());
  std::string text;
  for (const auto& one : listing->backends)
    text += for_people(one);
  const auto printed = print(options.json ? app::to_text(app::to_json(*listing)) : text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

struct ChangeArguments {
  SettingFlags flags{};
  std::string what;
  bool json = false;
};

Exit add(const ChangeArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("backends add", settings.status().message());
  const auto added = app::add_backend(options.what, settings->of_backends(), {});
  if (!added.ok()) return fail(added.status());
  std::string text = fmt::format("added {} {} by {}\n", added->name, core::one_line(added->version), added->file);
  if (!added->devices.empty()) text += fmt::format("devices: {}\n", fmt::join(added->devices, ", "));
  if (!added->reason.empty()) text += fmt::format("it cannot be used yet: {}\n", core::one_line(added->reason));
  text += fmt::format("its library stays where it is: {}\n", added->library);
  const auto printed = print(options.json ? app::to_text(app::to_json(*added)) : text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

Exit remove(const ChangeArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("backends rm", settings.status().message());
  const auto removed = app::remove_backend(options.what, settings->of_backends());
  if (!removed.ok()) return fail(removed.status());
  const auto printed = print(options.json ? app::to_text(app::to_json(*removed))
                                          : fmt::format("removed {}\n", fmt::join(removed->files, ", ")));
  return printed.ok() ? Exit::kGood : fail(printed);
}

Command& add_change(Command& parent, Action& chosen, const std::string& name, const std::string& what,
                    const std::string& argument, const std::string& argument_help, const std::string& json_help,
                    Exit (*run)(const ChangeArguments&)) {
  auto options = std::make_shared<ChangeArguments>();
  Command& command = *parent.add_subcommand(name, what);
  command.add_option(argument, options->what, argument_help)->required();
  command.add_flag("--json", options->json, json_help);
  options->flags.add_to(command, kBackendGroups);
  command.callback([options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
  return command;
}

}  // namespace

void add_backends(Command& program, Action& chosen) {
  auto options = std::make_shared<ListArguments>();
  Command& app = *program.add_subcommand("backends", "Lists the backends, and adds and removes plug-ins.");
  app.add_flag(
      "--json", options->json,
      "Prints {backends: [{name, state, reason, version, built_in, file, library, source, description, devices, "
      "settings: [{key, value, help}]}], search: [{place, source, outcome}]}.");
  app.add_flag("--retry", options->retry,
               "Tries every plug-in again, instead of listing what is remembered of its first contact.");
  options->flags.add_to(app, kBackendGroups);
  add_change(app, chosen, "add", "Adds a plug-in for this user.", "FILE",
             "The plug-in's manifest (NAME.json) or its library.",
             "Prints {name, file, library, version, devices, reason}.", &add)
      .footer(
          "Writes a manifest that names the library to the user's folder. The library stays where it is, with\n"
          "the files beside it. A separate process opens it first: a plug-in that crashes, hangs or computes\n"
          "wrongly is not added.");
  add_change(app, chosen, "rm", "Removes a plug-in from the user's folder.", "NAME", "The plug-in's name.",
             "Prints {name, files}: the manifests that were removed.", &remove)
      .footer("Removes the manifest; the library stays.");
  app.footer(
      "A plug-in is a backend in a shared library of its own, found by its manifest (docs/plugins.md). The\n"
      "state of a plug-in is ready; unavailable, for the reason that it gives; refused, if it crashed, hung\n"
      "or computed wrongly in a separate process, which is tried again after an hour; unusable, if its\n"
      "manifest or library cannot be used here; or hidden, if another one of its name comes first.");
  app.callback([options, &chosen] { chosen = [options] { return list(*options); }; });
}

}  // namespace latebind::cli
