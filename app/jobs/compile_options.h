// The options of `compile`: what to compile, for which devices, and into which format.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"

namespace latebind::app {

enum class CompileFormat : std::int32_t { kBundle = 0, kFolder = 1, kBlob = 2, kPte = 3 };

// The words that CompileOptions::shapes accepts.
inline constexpr const char* kAutoShapes = "auto";
inline constexpr const char* kStaticShapes = "static";
inline constexpr const char* kDynamicShapes = "dynamic";

// Options for ExecuTorch programs.
struct PteOptions {
  std::vector<std::string> max_shapes;     // NAME=DIMxDIM…
  std::vector<std::string> compile_specs;  // KEY=VALUE
  std::string model;                       // for a program that is converted
  bool plan_inputs = false;
};

struct CompileOptions {
  std::string model;                             // a path, or a name on the hub
  std::vector<std::string> targets;              // "cpu", "npu:v73", "openvino:CPU"
  std::vector<std::string> shapes{kAutoShapes};  // one word, or shapes such as "1x32"
  CompileFormat format = CompileFormat::kBundle;
  std::string output;
  unsigned side_by_side = 0;     // variants compiled in parallel; 0: limited by processors and half of the free memory
  bool keep_going = false;       // writes what could be compiled even if a target failed
  bool add = false;              // `model` is a bundle to extend
  bool strict = false;           // fails if a compiler leaves nodes to the CPU
  bool names_precision = false;  // this call sets the precision, not just a file or the environment
  std::string name;
  std::string version;
  std::string source;
  std::string revision;
  std::string licence;
  PteOptions pte{};
};

inline constexpr unsigned kSideBySideMax = 64;

}  // namespace latebind::app

namespace latebind::core {
template <>
struct Words<app::CompileFormat> {
  static constexpr std::string_view kWhat = "format";
  static constexpr std::array kWords{Word<app::CompileFormat>{"bundle", app::CompileFormat::kBundle},
                                     Word<app::CompileFormat>{"folder", app::CompileFormat::kFolder},
                                     Word<app::CompileFormat>{"blob", app::CompileFormat::kBlob},
                                     Word<app::CompileFormat>{"pte", app::CompileFormat::kPte}};
};
}  // namespace latebind::core
