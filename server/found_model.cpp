#include "server/found_model.h"

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "app/model_source.h"
#include "core/bundle/bundle_model.h"
#include "core/bundle/package.h"
#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/text/ascii.h"
#include "core/text/name_character.h"
#include "core/text/pieces.h"
#include "embedding/folder/model_files.h"
#include "embedding/hub/name.h"

namespace latebind::server {

namespace fs = std::filesystem;
namespace hub = embedding::hub;
using core::Result;

namespace {

constexpr std::size_t kCardBytesMax = std::size_t{1} << 20;
constexpr std::size_t kMetadataBytesMax = 4096;
constexpr std::size_t kOwnerMax = 100;  // with the slash, and a quote before it

// Generic names of folders that merely contain a model.
constexpr std::array<std::string_view, 18> kGeneralNames{
    "model",     "models",     "data", "weights", "checkpoint", "checkpoints", "output", "snapshot", "repository",
    "embedding", "embeddings", "mnt",  "bundle",  "embedder",   "encoder",     "files",  "hf_model", "latest"};

bool says_nothing(std::string_view name) {
  const bool is_number = !name.empty() && std::ranges::all_of(name, core::is_ascii_digit);
  return name.empty() || is_number || std::ranges::find(kGeneralNames, name) != kGeneralNames.end();
}

// Whether the text is ORG/NAME or NAME, in the characters that names consist of.
bool is_name(std::string_view text) {
  if (hub::is_model_name(text) && text.find('@') == std::string_view::npos) return true;
  return !text.empty() && text.size() <= 96 && std::ranges::all_of(text, core::is_name_character) &&
         core::is_name_character(text.front()) && text.front() != '.' && text.back() != '.';
}

std::string_view last_part(std::string_view name) {
  return name.substr(name.find_last_of('/') + 1);
}

// A heading may be a plain word ("Introduction"). A model's name has a digit, or a sign between its parts.
bool looks_like_model_name(std::string_view name) {
  return std::ranges::any_of(last_part(name), [](char c) { return core::is_ascii_digit(c) || c == '-' || c == '_'; });
}

std::string_view without_marks(std::string_view text) {
  return core::trimmed(text, " \t\r`*\"'");
}

std::string_view take_line(std::string_view& text) {
  return core::take_until(text, '\n');
}

// Returns the member "name" of the first entry of "model-index".
std::string_view name_in_front_matter(std::string_view& card) {
  std::string_view found;
  bool is_index = false;
  std::string_view rest = card;
  if (without_marks(take_line(rest)) != "---") return found;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (without_marks(line) == "---") {
      card = rest;
      return found;
    }
    constexpr std::string_view kName = "- name:";
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (is_index && found.empty() && line.substr(indent).starts_with(kName)) {
      found = without_marks(line.substr(indent + kName.size()));
    } else if (indent == 0 && !line.starts_with('-')) {
      is_index = line.starts_with("model-index:");
    }
  }
  return found;
}

struct Described {
  std::string name;  // empty: unknown
  std::string file;
};

// Returns the model card of a folder, or "" without one.
std::string card_of(const fs::path& folder) {
  auto card = platform::read_small_file(folder / "README.md", kCardBytesMax);
  return card.ok() ? *std::move(card) : std::string();
}

std::string name_in_config(const fs::path& folder) {
  const auto config = platform::read_small_file(folder / "config.json", kCardBytesMax);
  if (!config.ok()) return {};
  const auto json = core::parse_json(*config, "config.json");
  const auto* name = json.ok() ? core::find_member(*json, "_name_or_path") : nullptr;
  if (name == nullptr || !name->is_string()) return {};
  const auto& text = name->text();
  return is_name(text) && !says_nothing(last_part(text)) ? text : std::string();
}

Described described_name(const fs::path& folder) {
  if (auto name = name_in_card(card_of(folder)); !name.empty()) return {std::move(name), "README.md"};
  return {name_in_config(folder), "config.json"};
}

// ORG/NAME of the folder called NAME, as its files say; empty where they do not.
std::string name_with_owner(const fs::path& folder, std::string_view name) {
  const std::string card = card_of(folder);
  for (std::string said : {name_in_card(card), name_in_config(folder), owned_name_in_card(card, name)})
    if (said.find('/') != std::string::npos && hub::is_model_name(said) && last_part(said) == name) return said;
  return {};
}

embedding::ModelOrigin origin_of(const fs::path& place) {
  std::error_code ignored;
  if (core::is_bundle(place) || fs::exists(place / core::kManifestFile, ignored)) {
    const auto package = core::Package::open(place);
    if (!package.ok()) return {};
    const auto text_of = [&](std::string_view key) {
      const auto* value = core::find_member(package->manifest().additional_metadata, key);
      return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
    };
    return {.source = text_of("source"), .revision = text_of("revision")};
  }
  const auto files = embedding::ModelFiles::open(place);
  return files.ok() ? files->origin() : embedding::ModelOrigin();
}

// Reads the commit that huggingface_hub records for a file downloaded into a user's folder (local_dir), in the first
// line of its metadata.
std::string commit_of_download(const fs::path& folder) {
  const auto text = platform::read_small_file(folder / ".cache" / "huggingface" / "download" / "config.json.metadata",
                                              kMetadataBytesMax);
  if (!text.ok()) return {};
  std::string_view rest = *text;
  return std::string(without_marks(take_line(rest)));
}

}  // namespace

std::string name_in_card(std::string_view card) {
  if (const auto name = name_in_front_matter(card); is_name(name) && !says_nothing(last_part(name)))
    return std::string(name);
  bool is_code = false;
  while (!card.empty()) {
    const std::string_view line = take_line(card);
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code || !line.starts_with("# ")) continue;
    const std::string_view heading = without_marks(line.substr(2));
    return is_name(heading) && looks_like_model_name(heading) ? std::string(heading) : std::string();
  }
  return {};
}

std::string owned_name_in_card(std::string_view card, std::string_view name) {
  constexpr std::string_view kQuotes = "'\"`";
  std::string_view found;
  for (std::size_t at = card.find(name); at != std::string_view::npos; at = card.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const std::size_t begin = at - std::min(at, kOwnerMax);
    const std::size_t quote = card.substr(begin, at - begin).find_last_of(kQuotes);
    if (quote == std::string_view::npos || end == card.size() || card[end] != card[begin + quote]) continue;
    const std::string_view whole = card.substr(begin + quote + 1, end - begin - quote - 1);
    if (whole == name || !hub::is_model_name(whole) || last_part(whole) != name) continue;
    if (!found.empty() && found != whole) return {};  // copies of several owners
    found = whole;
  }
  return std::string(found);
}

bool is_network_file(const fs::path& place) {
  std::error_code ignored;
  const auto extension = place.extension();
  return fs::is_regular_file(place, ignored) && (extension == ".onnx" || extension == ".xml");
}

FoundModel describe_model(const ModelArgument& argument, fs::path place) {
  FoundModel found{.place = std::move(place), .names = names_of(argument)};
  if (is_network_file(found.place)) return found;
  const embedding::ModelOrigin origin = origin_of(found.place);
  found.commit = origin.revision.empty() ? commit_of_download(found.place) : origin.revision;
  if (!hub::is_commit(found.commit)) found.commit.clear();
  if (!argument.name.empty()) return found;
  auto& [given, name, others] = found.names;
  if (hub::is_model_name(origin.source)) {
    others.push_back(origin.source);
    std::error_code ignored;
    // A folder in the cache is named after its commit.
    if (fs::is_directory(found.place, ignored)) name = last_part(origin.source);
  } else if (says_nothing(name)) {
    Described described = described_name(found.place);
    if (described.name.empty()) return found;
    others.push_back(std::exchange(name, std::string(last_part(described.name))));
    others.push_back(std::move(described.name));
    found.named_by = std::move(described.file);
  } else if (std::string owned = name_with_owner(found.place, name); !owned.empty()) {
    others.push_back(std::move(owned));
  }
  return found;
}

Result<FoundModel> find_model(const ModelArgument& argument, const app::Runtime& runtime, const app::Client& client) {
  LB_ASSIGN_OR_RETURN(auto place, app::find_model(argument.model, runtime.onnx_file, client));
  return describe_model(argument, std::move(place));
}

}  // namespace latebind::server
