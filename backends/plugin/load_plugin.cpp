#include "backends/plugin/load_plugin.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "core/config.h"
#include "core/placement/placement_words.h"
#include "core/platform/digest.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"
#include "core/text/one_line.h"
#include "core/text/quote.h"
#include "core/threads/background_work.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

Status unusable(std::string text) {
  return Status(StatusCode::kLibraryUnusable, std::move(text));
}

// An error of the table is one of the library.
Status unusable(const Status& status) {
  return unusable(std::string(status.message()));
}

Status check_required(const lbb_table& slots) {
  const std::pair<bool, const char*> required[] = {
      {slots.create != nullptr, "create"},       {slots.destroy != nullptr, "destroy"},
      {slots.available != nullptr, "available"}, {slots.devices != nullptr, "devices"},
      {slots.load != nullptr, "load"},           {slots.describe_executable != nullptr, "describe_executable"},
      {slots.execute != nullptr, "execute"},     {slots.destroy_executable != nullptr, "destroy_executable"}};
  for (const auto& [is_there, name] : required)
    if (!is_there) return unusable(fmt::format("the plug-in's table has no {}(), which is required", name));
  return {};
}

// Slots that make sense only together.
Status check_groups(const lbb_table& slots) {
  const int blobs = (slots.compile != nullptr) + (slots.check_blob != nullptr) + (slots.load_blob != nullptr);
  if (blobs % 3 != 0 || (blobs == 0 && slots.export_blob != nullptr)) {
    return unusable(
        "the plug-in's table has some of the slots for blobs; compile(), check_blob() and load_blob() go together, and "
        "export_blob() with them");
  }
  const int buffers = (slots.create_buffer != nullptr) + (slots.destroy_buffer != nullptr) +
                      (slots.write_buffer != nullptr) + (slots.read_buffer != nullptr) +
                      (slots.execute_to_buffers != nullptr);
  if (buffers % 5 != 0) return unusable("the plug-in's table has some of the five slots for buffers; they go together");
  return {};
}

Status check_name(std::string_view name) {
  if (!is_identifier(name)) {
    return unusable(
        fmt::format("the plug-in's name is {}, which is not a lower-case letter followed by at most 31 such letters, "
                    "digits and '_'",
                    core::quoted(name)));
  }
  if (std::ranges::find(core::kPlacementWords, name) != core::kPlacementWords.end()) {
    return unusable(fmt::format("the plug-in's name is '{}', which has another meaning in placements", name));
  }
  return {};
}

Result<Setting> read_setting(const lbb_setting& given) {
  Setting setting;
  LB_ASSIGN_OR_RETURN(setting.key, text_of("the key of a setting", given.key));
  if (!is_identifier(setting.key))
    return breach(fmt::format("a setting has the key {}, which is not lower-case letters, digits and '_'",
                              core::quoted(setting.key)));
  const std::string what = fmt::format("the setting '{}'", setting.key);
  LB_ASSIGN_OR_RETURN(setting.value, text_of(what + ": its form", given.value));
  LB_ASSIGN_OR_RETURN(setting.help, text_of(what + ": its help", given.help, kTextMax));
  setting.value = core::one_line(setting.value);
  setting.help = core::one_line(setting.help);
  if (given.word_count > kListMax || (given.word_count > 0 && given.words == nullptr))
    return breach(what + ": it has no list of words");
  for (std::size_t i = 0; i < given.word_count; ++i) {
    LB_ASSIGN_OR_RETURN(std::string word, text_of(what + ": a word", given.words[i]));
    setting.words.push_back(std::move(word));
  }
  setting.is_number = given.is_number != 0;
  setting.least = given.least;
  setting.most = given.most;
  if (setting.is_number && (setting.least > setting.most || !setting.words.empty()))
    return breach(fmt::format("{}: it is a number between {} and {}{}", what, setting.least, setting.most,
                              setting.words.empty() ? "" : ", and has words"));
  return setting;
}

Status read_settings(const lbb_table& slots, std::vector<Setting>& settings) {
  return read_list("a setting", slots.settings, slots.setting_count, [&](const lbb_setting& given) -> Status {
    LB_ASSIGN_OR_RETURN(Setting setting, read_setting(given));
    if (std::ranges::find(settings, setting.key, &Setting::key) != settings.end())
      return breach(fmt::format("two settings have the key '{}'", setting.key));
    settings.push_back(std::move(setting));
    return {};
  });
}

}  // namespace

Status Plugin::check(const core::BackendSettingTexts& texts) const {
  for (const auto& [key, text] : texts) {
    const auto found = std::ranges::find(settings, key, &Setting::key);
    if (found == settings.end()) {
      std::vector<std::string_view> known;
      for (const Setting& setting : settings)
        known.emplace_back(setting.key);
      return core::unknown_word_error(fmt::format("setting of {}", name), key, known);
    }
    const std::string what = fmt::format("plugin.{}.{}", name, key);
    if (found->is_number) LB_RETURN_IF_ERROR(core::parse_integer(what, text, found->least, found->most).status());
    if (found->words.empty() || std::ranges::find(found->words, text) != found->words.end()) continue;
    const std::vector<std::string_view> known(found->words.begin(), found->words.end());
    return core::unknown_word_error(what, text, known);
  }
  return {};
}

Status Plugin::check_process() const {
  if (opened.this_process()) return {};
  return unusable(
      fmt::format("the plug-in {} cannot work in this process: fork() made it after its parent had opened the plug-in; "
                  "start such processes without fork() (in Python, multiprocessing's 'spawn' or 'forkserver')",
                  name));
}

Result<PluginPointer> check_table(const lbb_table* table, const lbb_host& host) {
  if (table == nullptr) return unusable("the plug-in gave no table");
  constexpr std::size_t kRequired = offsetof(lbb_table, destroy_executable) + sizeof(lbb_table::destroy_executable);
  if (table->struct_size < kRequired || table->struct_size > kStructMax) {
    return unusable(fmt::format("the plug-in's table says that it has {} bytes; the required slots end at {}",
                                table->struct_size, kRequired));
  }
  auto plugin = std::make_shared<Plugin>();
  plugin->slots = read_struct(*table);
  const lbb_table& slots = plugin->slots;
  LB_RETURN_IF_ERROR(check_required(slots));
  if (slots.abi < host.abi_least || slots.abi > host.abi_most) {
    return unusable(fmt::format("the plug-in uses version {} of the contract, and this host speaks {} to {}; {}",
                                slots.abi, host.abi_least, host.abi_most,
                                slots.abi > host.abi_most ? "update Latebind" : "get a newer plug-in"));
  }
  LB_RETURN_IF_ERROR(check_groups(slots));
  auto name = text_of("the plug-in's name", slots.name);
  if (!name.ok()) return unusable(name.status());
  LB_RETURN_IF_ERROR(check_name(*name));
  plugin->name = *std::move(name);
  const auto named = [&](const Status& status) {
    return unusable(fmt::format("the plug-in {}: {}", plugin->name, status.message()));
  };
  auto version = text_of("its version", slots.version);
  if (!version.ok()) return named(version.status());
  plugin->version = core::one_line(*version);
  if (plugin->version.empty()) return unusable(fmt::format("the plug-in {} has no version", plugin->name));
  auto maker = optional_text_of("its maker", slots.maker);
  if (!maker.ok()) return named(maker.status());
  plugin->maker = core::one_line(*maker);
  if (const Status read = read_settings(slots, plugin->settings); !read.ok()) return named(read);
  return PluginPointer(std::move(plugin));
}

Result<PluginPointer> load_plugin(const std::filesystem::path& file, std::string digest, const lbb_host& host) {
  const std::string place = platform::path_to_utf8(file);
  if (digest.empty()) {
    LB_ASSIGN_OR_RETURN(digest, platform::sha256_hex_of_file(file));
  }
  LB_ASSIGN_OR_RETURN(auto library, platform::DynamicLibrary::open(file));
  // From here on the library's code has run.
  library.leak();
  core::register_exit_mark();
  void* const symbol = library.symbol(LBB_ENTRY);
  if (symbol == nullptr) {
    return unusable(
        fmt::format("{0} is not a plug-in: it does not export {1}(), which a plug-in defines with LBB_EXPORT "
                    "and, in C++, in extern \"C\"",
                    place, LBB_ENTRY));
  }
  const auto entry = reinterpret_cast<lbb_entry>(symbol);
  const lbb_table* table = nullptr;
  const Status entered = called(place, LBB_ENTRY, [&](lbb_error* error) { return entry(&host, &table, error); });
  if (!entered.ok()) return unusable(entered).with_context(place);
  auto plugin = check_table(table, host);
  if (!plugin.ok()) return plugin.status().with_context(place);
  auto opened = std::make_shared<Plugin>(**plugin);
  opened->file = file;
  opened->digest = std::move(digest);
  return PluginPointer(std::move(opened));
}

}  // namespace latebind::plugin
