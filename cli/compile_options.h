// What `latebind compile` was told.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/compile_pte.h"
#include "cli/runtime_options.h"
#include "core/config.h"

namespace latebind::cli {

enum class CompileFormat : std::int32_t { kBundle = 0, kFolder = 1, kBlob = 2, kPte = 3 };

// Words of --shapes.
inline constexpr const char* kAutoShapes = "auto";
inline constexpr const char* kBucketShapes = "buckets";
inline constexpr const char* kDynamicShapes = "dynamic";

struct CompileOptions {
  RuntimeOptions runtime{};
  std::string model;
  std::vector<std::string> targets;
  std::vector<std::string> shapes{kAutoShapes};
  CompileFormat format = CompileFormat::kBundle;
  std::string output;
  unsigned jobs = 0;
  bool keep_going = false;
  bool add = false;
  bool strict = false;
  bool quiet = false;
  bool json = false;
  std::string name;
  std::string version;
  std::string source;
  std::string revision;
  std::string licence;
  PteOptions pte{};
};

}  // namespace latebind::cli

namespace latebind::core {
template <>
struct Words<cli::CompileFormat> {
  static constexpr std::string_view kWhat = "format";
  static constexpr std::array kWords{Word<cli::CompileFormat>{"bundle", cli::CompileFormat::kBundle},
                                     Word<cli::CompileFormat>{"folder", cli::CompileFormat::kFolder},
                                     Word<cli::CompileFormat>{"blob", cli::CompileFormat::kBlob},
                                     Word<cli::CompileFormat>{"pte", cli::CompileFormat::kPte}};
};
}  // namespace latebind::core
