#include "server/model_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/hub/name.h"

namespace latebind::server {

namespace fs = std::filesystem;
namespace hub = embedding::hub;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::string_view kLatest = ":latest";
// Names appear in lists, paths and labels.
constexpr std::size_t kNameMax = 200;
constexpr std::size_t kShownMax = 200;

bool exists(const std::string& model) {
  std::error_code ignored;
  return fs::exists(platform::path_from_utf8(model), ignored);
}

// "all-MiniLM-L6-v2" for the path of a folder or a file, which need not exist.
std::string name_of_path(std::string text) {
  while (text.size() > 1 && (text.back() == '/' || text.back() == '\\'))
    text.pop_back();
  const auto path = platform::path_from_utf8(text);
  std::error_code ignored;
  const auto whole = fs::weakly_canonical(path, ignored);
  const auto& named = path.filename() == "." || path.filename() == ".." ? whole : path;
  return platform::path_to_utf8(fs::is_regular_file(path, ignored) ? named.stem() : named.filename());
}

bool is_usable(std::string_view name) {
  bool is_line = true;
  core::for_each_character(
      name, [](std::string_view) {}, [&](std::string_view) { is_line = false; });
  return !name.empty() && name.size() <= kNameMax && is_line && !core::find_invalid_utf8(name);
}

std::string_view without_latest(std::string_view name) {
  if (name.size() > kLatest.size() && name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  return name;
}

}  // namespace

Result<ModelArgument> ModelArgument::parse(const std::string& text) {
  ModelArgument argument;
  const std::size_t equals = text.find('=');
  // A folder's name may contain '='.
  const bool is_named = equals != std::string::npos && !exists(text);
  if (is_named) argument.name = text.substr(0, equals);
  argument.model = is_named ? text.substr(equals + 1) : text;
  if ((is_named && argument.name.empty()) || argument.model.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("--model must be MODEL or NAME=MODEL, not {}", core::quoted(text, kShownMax)));
  }
  return argument;
}

ModelNames names_of(const ModelArgument& argument) {
  ModelNames names;
  names.given = argument.name.empty() ? argument.model : argument.name + "=" + argument.model;
  names.name = argument.name;
  if (!names.name.empty()) return names;
  names.others.push_back(argument.model);
  if (exists(argument.model)) {
    names.name = name_of_path(argument.model);
    return names;
  }
  const auto on_hub = hub::ModelName::parse(argument.model);
  if (on_hub.ok()) names.others.push_back(on_hub->id);
  const std::string& named = on_hub.ok() ? on_hub->id : argument.model;
  names.name = name_of_path(named.substr(0, named.find('@', named.find_last_of('/') + 1)));
  return names;
}

Status NameTable::add(const ModelNames& names) {
  if (!is_usable(names.name)) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{}: the name of a served model must be one line of 1 to {} bytes: set it with --model NAME=…",
                    core::quoted(names.given, kShownMax), kNameMax));
  }
  const std::size_t model = given_.size();
  given_.push_back(names.given);
  const auto add_name = [&](std::string_view name) -> Status {
    const auto [at, is_new] = models_.try_emplace(std::string(without_latest(name)), model);
    if (is_new || at->second == model) return {};
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("two models are called {}: {} and {}; rename one with --model NAME=MODEL",
                              core::quoted(name, kNameMax), core::quoted(given_[at->second], kShownMax),
                              core::quoted(names.given, kShownMax)));
  };
  LB_RETURN_IF_ERROR(add_name(names.name));
  for (const std::string& name : names.others) {
    if (is_usable(name)) LB_RETURN_IF_ERROR(add_name(name));
  }
  return {};
}

std::optional<std::size_t> NameTable::find(std::string_view name) const {
  const auto at = models_.find(without_latest(name));
  if (at == models_.end()) return std::nullopt;
  return at->second;
}

Status add_aliases(std::span<const std::string> aliases, std::span<ModelNames> models) {
  NameTable table;
  for (const ModelNames& names : models)
    LB_RETURN_IF_ERROR(table.add(names));
  for (const std::string& text : aliases) {
    const std::size_t equals = text.find('=');
    const std::string alias = text.substr(0, equals);
    const std::string model = equals == std::string::npos ? models.front().name : text.substr(equals + 1);
    const auto found = table.find(model);
    if (!is_usable(alias) || !found) {
      std::string known;
      for (const ModelNames& names : models)
        known += (known.empty() ? "" : ", ") + names.name;
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format(
              "--alias must be NAME=MODEL, or NAME for the first model, not {}{}", core::quoted(text, kShownMax),
              found ? ""
                    : fmt::format(": no model is called {}; available: {}", core::quoted(model, kNameMax), known)));
    }
    models[*found].others.push_back(alias);
  }
  NameTable complete;
  for (const ModelNames& names : models)
    LB_RETURN_IF_ERROR(complete.add(names));
  return {};
}

}  // namespace latebind::server
