// The format of --help: like a manual page, the option on its own line and its description below, wrapped.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace latebind::cli {

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
};

}  // namespace latebind::cli
