// The command line of latebind-conformance as values. Pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace latebind::kit {

enum class ReportFormat : unsigned char { kText, kJunit, kJson };

struct Options {
  std::string subject{};  // as the user gives it: a library, a manifest, or the name of a backend
  std::string device{};   // empty: each device that is present
  std::string output{};   // empty: standard output
  std::string only{};     // a check or a group; empty: all checks
  ReportFormat format = ReportFormat::kText;
  std::chrono::seconds soak{0};  // 0: without the soak
  // Replaces the limit of each check; 0: the check's own.
  std::chrono::seconds time{0};
  std::uint32_t seed = 1;
  std::size_t cases = 60;                                       // random graphs for each operator
  std::vector<std::pair<std::string, std::string>> settings{};  // of the plug-in, by key
  bool list = false;
  bool help = false;
  bool version = false;
  // For the child process: the check to run, and the file for what it finds.
  std::string run_check{};
  std::string result_file{};
};

// Parses the arguments, without the program's name. kInvalidArgument says what is wrong and names --help.
[[nodiscard]] core::Result<Options> parse_options(std::span<const std::string> arguments);

// Returns the arguments that make a child run this check on this device.
[[nodiscard]] std::vector<std::string> arguments_of_child(const Options& options, std::string_view check,
                                                          std::string_view device, std::string_view result_file);

// Returns the text of --help.
[[nodiscard]] std::string help_text();

}  // namespace latebind::kit
