#include "backends/onnxruntime/plugin_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/onnxruntime/targets.h"

namespace latebind::onnxruntime {
namespace {

using core::FileSystem;
using core::SearchCandidate;
using core::System;
using Kind = FileSystem::Kind;

// More providers than any folder contains on purpose.
constexpr std::size_t kProvidersMax = 32;

// The plain name of a provider's library: "libonnxruntime_providers_x.so" for "libonnxruntime_providers_x.so.1.2";
// empty for other files.
std::string plain_name(const std::string& name, System system) {
  const std::string_view begin = system == System::kWindows ? "onnxruntime_providers_" : "libonnxruntime_providers_";
  const std::string_view suffix = system == System::kWindows ? ".dll" : ".so";
  if (!name.starts_with(begin)) return {};
  const auto end = name.find(suffix, begin.size());
  if (end == std::string::npos) return {};
  const std::string_view version = std::string_view(name).substr(end + suffix.size());
  if (!version.empty() && (system == System::kWindows || version.front() != '.')) return {};
  const std::string_view stem = std::string_view(name).substr(begin.size(), end - begin.size());
  // Parts of ONNX Runtime's own builds, which are not plugins or cannot be registered as such.
  if (stem == "shared" || stem == "tensorrt" || stem == "rocm" || stem == "migraphx") return {};
  return name.substr(0, end + suffix.size());
}

class ListMaker {
 public:
  ListMaker(const ProviderFacts& facts, const FileSystem& files) : facts_(facts), files_(files) {}

  std::vector<SearchCandidate> make() && {
    if (!facts_.paths.empty()) {
      if (facts_.paths != std::vector<std::string>{std::string(kNoProviders)}) {
        for (const std::string& path : facts_.paths)
          add_named(path);
      }
      return std::move(list_);
    }
    for (const KnownProvider& known : known_providers()) {
      if (known.of_runtime) {
        add_of_runtime(known);
        continue;
      }
      core::VendorLibrary wanted;
      wanted.product = known.provider;
      wanted.install_command = install_command(known);
      wanted.stem = known.library_stem;
      wanted.package_folder = known.package_folder;
      const auto found = core::search_list(wanted, facts_.search, files_);
      for (const SearchCandidate& one : found.candidates) {
        if (one.left_out) add(one);
      }
      const auto first = std::ranges::find_if(found.candidates, [](const auto& one) { return one.why_not.empty(); });
      // One file for each provider: two copies cannot be registered under one name.
      if (first != found.candidates.end()) {
        add(*first);
      } else {
        add_beside_runtime(known);
      }
    }
    return std::move(list_);
  }

 private:
  void add_named(std::string path) {
    const std::string source = "the configured providers";
    while (path.size() > 1 && path.ends_with('/'))
      path.pop_back();
    if (!core::is_absolute_path(path, facts_.search.system)) {
      return miss(path, source, "the path is relative, and the current folder is never searched: give the full path");
    }
    const Kind kind = files_.kind_of(path);
    if (kind == Kind::kNothing) return miss(path, source, "does not exist");
    if (kind == Kind::kFile) return add_named_file(path, source);
    const auto libraries = libraries_in(path);
    if (libraries.empty()) {
      return miss(path, source,
                  fmt::format("no {} in it", core::library_name("onnxruntime_providers_*", facts_.search.system)));
    }
    for (const std::string& library : libraries)
      add_named_file(library, source);
  }

  void add_named_file(const std::string& path, const std::string& source) {
    const KnownProvider* const known = known_provider_of_file(core::last_part(path), facts_.search.system);
    if (known != nullptr && known->of_runtime &&
        !files_.is_same(core::parent_folder(path), core::parent_folder(facts_.runtime_file))) {
      return miss(
          path, source,
          fmt::format("a part of the ONNX Runtime build beside it, which works only with that build; this is {}",
                      facts_.runtime_file));
    }
    add({path, source, {}});
  }

  // Adds a provider beside ONNX Runtime's library.
  void add_of_runtime(const KnownProvider& known) {
    const std::string folder = core::parent_folder(facts_.runtime_file);
    if (folder.empty()) return;
    for (const std::string& library : libraries_in(folder)) {
      if (known_provider_of_file(core::last_part(library), facts_.search.system) != &known) continue;
      return add(core::found_by_itself(library, "a part of this build of ONNX Runtime", files_));
    }
  }

  // Adds a provider whose package is in the site-packages of <site-packages>/onnxruntime/capi/libonnxruntime.so….
  void add_beside_runtime(const KnownProvider& known) {
    const std::string packages = core::parent_folder(core::parent_folder(core::parent_folder(facts_.runtime_file)));
    if (packages.empty()) return;
    for (const std::string& library : libraries_in(fmt::format("{}/{}", packages, known.package_folder))) {
      if (known_provider_of_file(core::last_part(library), facts_.search.system) != &known) continue;
      return add(core::found_by_itself(library, "beside the package of ONNX Runtime", files_));
    }
  }

  // One library for each provider, by name.
  [[nodiscard]] std::vector<std::string> libraries_in(const std::string& folder) const {
    auto names = files_.names_in(folder);
    const System system = facts_.search.system;
    std::erase_if(names, [&](const std::string& name) { return plain_name(name, system).empty(); });
    std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
      const std::string plain_a = plain_name(a, system);
      const std::string plain_b = plain_name(b, system);
      if (plain_a != plain_b) return plain_a < plain_b;
      if ((a == plain_a) != (b == plain_b)) return a == plain_a;
      return core::newer_name(a, b);
    });
    std::vector<std::string> paths;
    std::string last;
    for (const std::string& name : names) {
      std::string path = fmt::format("{}/{}", folder, name);
      if (plain_name(name, system) == last || files_.kind_of(path) != Kind::kFile) continue;
      last = plain_name(name, system);
      paths.push_back(std::move(path));
    }
    return paths;
  }

  void add(const SearchCandidate& one) {
    const bool known = std::ranges::any_of(
        list_, [&](const auto& other) { return other.place == one.place && other.left_out == one.left_out; });
    if (!known && list_.size() < kProvidersMax) list_.push_back(one);
  }
  void miss(const std::string& place, const std::string& source, const std::string& why) {
    if (list_.size() < kProvidersMax) list_.push_back({place, source, why});
  }

  const ProviderFacts& facts_;
  const FileSystem& files_;
  std::vector<SearchCandidate> list_;
};

}  // namespace

ProviderFacts ProviderFacts::gather(std::vector<std::string> paths, std::string runtime_file) {
  ProviderFacts facts;
  facts.search = core::SearchFacts::gather({}, {});
  facts.paths = std::move(paths);
  facts.runtime_file = std::move(runtime_file);
  if (facts.search.system == System::kWindows) {
    for (std::string& path : facts.paths)
      std::ranges::replace(path, '\\', '/');
    std::ranges::replace(facts.runtime_file, '\\', '/');
  }
  return facts;
}

std::vector<SearchCandidate> provider_list(const ProviderFacts& facts, const FileSystem& files) {
  return ListMaker(facts, files).make();
}

}  // namespace latebind::onnxruntime
