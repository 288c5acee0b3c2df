// A library and a program in a folder of their own: the program is a script that answers as a child would.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/platform/files/temporary_folder.h"
#include "core/vendor/child_trial.h"

namespace latebind::test {

inline constexpr const char* kGoodAnswer =
    R"(echo 'latebind-child-says: {"code":0,"report":{"name":"toy","version":"1.2","devices":[["CPU","1.0"]]}}')";

class ContactScene {
 public:
  ContactScene() { std::ofstream(library) << "a library"; }

  // Makes the program do this, and count its calls.
  void answer(const std::string& script) const {
    const auto program = folder.path() / "worker";
    std::ofstream(program) << "#!/bin/sh\necho x >> '" << (folder.path() / "calls").string() << "'\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::size_t calls() const {
    std::ifstream file(folder.path() / "calls");
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, 'x'));
  }
  [[nodiscard]] core::TrialOptions options(std::chrono::milliseconds time = std::chrono::minutes(5)) const {
    return {.program = (folder.path() / "worker").string(), .folder = memory, .time = time};
  }
  [[nodiscard]] std::string remembered() const {
    std::ifstream file(memory / "plugins.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Makes what is remembered as old as this.
  void age(std::int64_t seconds) const {
    std::string text = remembered();
    const std::string key = "\"when\": ";
    const auto at = text.find(key) + key.size();
    const auto end = text.find_first_not_of("0123456789", at);
    text.replace(at, end - at, std::to_string(std::stoll(text.substr(at, end - at)) - seconds));
    std::ofstream(memory / "plugins.json") << text;
  }

  const platform::TemporaryFolder folder = *platform::TemporaryFolder::create("contact-test");
  const std::filesystem::path memory = folder.path() / "memory";
  const std::filesystem::path library = folder.path() / "libtoy.so";
};

}  // namespace latebind::test
