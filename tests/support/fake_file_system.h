// A file system that is only a list of files, and what a search found in it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/vendor/vendor_search.h"

namespace latebind::test {

class FakeFileSystem final : public core::FileSystem {
 public:
  explicit FakeFileSystem(std::set<std::string> files = {}) : files_(std::move(files)) {}

  // Files with a text; and folders that others may write to, with all that is in them.
  std::map<std::string, std::string> texts{};
  std::set<std::string> others{};

  [[nodiscard]] Kind kind_of(const std::string& path) const override {
    if (files_.contains(path)) return Kind::kFile;
    return names_in(path).empty() ? Kind::kNothing : Kind::kFolder;
  }
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const override {
    std::set<std::string> names;
    for (const std::string& file : files_) {
      if (!file.starts_with(folder + "/")) continue;
      const std::string rest = file.substr(folder.size() + 1);
      names.insert(rest.substr(0, rest.find('/')));
    }
    return {names.begin(), names.end()};
  }
  [[nodiscard]] std::string text_of(const std::string& file) const override {
    const auto found = texts.find(file);
    return found == texts.end() ? std::string() : found->second;
  }
  [[nodiscard]] bool is_same(const std::string& one, const std::string& other) const override { return one == other; }
  [[nodiscard]] std::string why_not_trusted(const std::string& file) const override {
    for (const std::string& folder : others) {
      if (file.starts_with(folder + "/")) return folder + " is another user's";
    }
    return {};
  }

 private:
  std::set<std::string> files_;
};

// The files that would be opened, in order.
inline std::vector<std::string> files_of(const core::SearchList& list) {
  std::vector<std::string> files;
  for (const auto& candidate : list.candidates) {
    if (candidate.why_not.empty()) files.push_back(candidate.place);
  }
  return files;
}

}  // namespace latebind::test
