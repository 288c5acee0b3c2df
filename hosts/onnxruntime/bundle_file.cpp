#include "hosts/onnxruntime/bundle_file.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "core/bundle/package_identity.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/files/new_file.h"
#include "core/platform/files/temporary_name.h"
#include "core/text/option_text.h"

namespace latebind::provider {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigitsInName = 16;

constexpr std::size_t kDigits = 64;
constexpr std::string_view kIdentityHead = "latebind bundle ";

std::string shown(const fs::path& path) {
  return platform::path_to_utf8(path);
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

bool has_all(const std::vector<std::string>& all, const std::vector<std::string>& wanted) {
  return std::ranges::includes(all, wanted);
}

fs::path folder_of(const fs::path& model) {
  const fs::path folder = model.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// The folders that may contain a model's bundle: the model's folder, and that of the file to which the model is a link.
std::vector<fs::path> allowed_folders(const fs::path& model) {
  std::vector<fs::path> folders;
  std::error_code error;
  if (fs::path own = fs::canonical(folder_of(model), error); !error) folders.push_back(std::move(own));
  const fs::path real = fs::canonical(model, error);
  if (!error && (folders.empty() || real.parent_path() != folders.front())) folders.push_back(real.parent_path());
  return folders;
}

Failure leads_elsewhere(const std::string& name, const fs::path& real, const std::vector<fs::path>& folders) {
  std::string where = "the model's folder";
  if (!folders.empty()) where += " " + shown(folders.front());
  if (folders.size() > 1)
    where += " and of " + shown(folders.back()) + ", the folder of the file that the model links to";
  return {abi::kInvalidGraph, "Latebind: ep_cache_context '" + name + "' is a link to " + shown(real) +
                                  ", outside of " + where + "; put the bundle itself there"};
}

// Searches one folder; std::nullopt if there is no such file.
std::optional<BundleFile> find_in(const fs::path& model, const fs::path& path, const std::string& name,
                                  const BundleIdentity& meant) {
  std::error_code error;
  const fs::path real = fs::canonical(folder_of(model) / path, error);
  if (error) return std::nullopt;
  const std::vector<fs::path> folders = allowed_folders(model);
  if (std::ranges::none_of(folders, [&](const fs::path& folder) { return platform::is_within(real, folder); })) {
    throw leads_elsewhere(name, real, folders);
  }
  const auto found = core::content_of_bundle_file(real);
  if (!found.ok()) {
    throw Failure(abi::kInvalidGraph, "Latebind: ep_cache_context '" + name +
                                          "' is not a bundle: " + std::string(found.status().message()));
  }
  const core::BundleContent& is = found->content;
  const std::string what_to_do = ": restore that one, or compile the model again";
  if (!meant.model.empty() && is.model != meant.model) {
    throw Failure(abi::kInvalidGraph, "Latebind: " + shown(real) + " is another model's bundle (of " +
                                          is.model.substr(0, kDigitsInName) +
                                          "…, but the model was compiled with one of " +
                                          meant.model.substr(0, kDigitsInName) + "…)" + what_to_do);
  }
  if (!has_all(is.variants, meant.variants)) {
    throw Failure(abi::kInvalidGraph, "Latebind: " + shown(real) + " is compiled for " +
                                          (is.variants.empty() ? "nothing" : listed(is.variants)) +
                                          ", but the model was compiled with one for " + listed(meant.variants) +
                                          what_to_do);
  }
  return BundleFile{name, real, {is.model, is.variants}, found->file};
}

}  // namespace

BundleFile find_bundle(const std::vector<fs::path>& models, const std::string& name, const BundleIdentity& meant) {
  const fs::path path = platform::path_from_utf8(name);
  const bool leaves = path.is_absolute() || path.has_root_path() ||
                      std::ranges::any_of(path, [](const fs::path& step) { return step == ".."; });
  if (name.empty() || leaves || name.find('\0') != std::string::npos) {
    throw Failure(abi::kInvalidGraph, "Latebind: ep_cache_context '" + name.substr(0, 256) +
                                          "' must be the name of a file in the model's own folder");
  }
  std::optional<Failure> wrong;
  std::string places;
  for (const fs::path& model : models) {
    try {
      if (auto found = find_in(model, path, name, meant)) return *std::move(found);
      places += (places.empty() ? "" : " nor ") + shown(folder_of(model) / path);
    } catch (const Failure& failure) {
      if (!wrong) wrong = failure;
    }
  }
  if (wrong) throw Failure(*wrong);
  throw Failure(
      abi::kNoSuchFile,
      "Latebind: there is no " + places +
          ", which the model names; put it beside the model, or set ep.context_file_path to the place of the model");
}

std::string text_of(const BundleIdentity& identity) {
  return std::string(kIdentityHead) + identity.model + " " + listed(identity.variants);
}

BundleIdentity parse_bundle_identity(std::string_view text) {
  if (!text.starts_with(kIdentityHead)) return {};  // notes that Latebind did not write
  text.remove_prefix(kIdentityHead.size());
  const std::string_view model = text.substr(0, kDigits);
  const bool is_digest =
      model.size() == kDigits && model.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!is_digest || text.substr(kDigits, 1) != " ") {
    throw Failure(abi::kInvalidGraph, "Latebind: a compiled node does not name its bundle; compile the model again");
  }
  BundleIdentity identity{std::string(model), {}};
  for (const std::string_view word : core::list_items(text.substr(kDigits + 1)))
    if (!word.empty()) identity.variants.emplace_back(word);
  std::ranges::sort(identity.variants);
  return identity;
}

void check_unchanged(const BundleFile& bundle) {
  const auto now = platform::file_identity(bundle.file);
  if (now.ok() && *now == bundle.was) return;
  throw Failure(abi::kFail, "Latebind: " + shown(bundle.file) + " changed while the session was created");
}

fs::path draft_beside(const fs::path& model) {
  return model.parent_path() / platform::new_temporary_name();
}

BundleFile place_bundle(const fs::path& model, const fs::path& draft) {
  struct Draft {
    const fs::path& file;
    ~Draft() {
      std::error_code gone;
      fs::remove(file, gone);
      platform::drop_leftover(file);
    }
  };
  platform::add_leftover(draft);
  const Draft owned{draft};
  const auto made = core::content_of_bundle_file(draft);
  require(made.status());
  BundleFile bundle{shown(model.stem()) + "_latebind_" + made->content.digest.substr(0, kDigitsInName) + ".lbundle",
                    {},
                    {made->content.model, made->content.variants},
                    {}};
  bundle.file = model.parent_path() / platform::path_from_utf8(bundle.name);
  const auto placed = platform::place_new_file(draft, bundle.file);
  require(placed.status());
  bundle.is_new = *placed;
  if (!bundle.is_new) {
    const auto there = core::content_of_bundle_file(bundle.file);
    if (!there.ok() || there->content.model != bundle.identity.model ||
        !has_all(there->content.variants, bundle.identity.variants)) {
      throw Failure(abi::kFail, "Latebind: cannot write " + shown(bundle.file) +
                                    ": another file has that name and is not replaced; remove it, or name another "
                                    "folder with ep.context_file_path");
    }
    std::error_code error;
    if (!core::check_bundle_file(bundle.file).ok()) fs::rename(draft, bundle.file, error);
    if (error) throw Failure(abi::kFail, "Latebind: cannot write " + shown(bundle.file) + ": " + error.message());
  }
  const auto now = platform::file_identity(bundle.file);
  require(now.status());
  bundle.was = *now;
  return bundle;
}

void remove_bundle(const BundleFile& bundle) noexcept {
  try {
    const auto now = platform::file_identity(bundle.file);
    if (!bundle.is_new || !now.ok() || *now != bundle.was) return;
    std::error_code error;
    fs::remove(bundle.file, error);
  } catch (const std::exception&) {
    // If there is no memory for a name, the file stays.
  }
}

}  // namespace latebind::provider
