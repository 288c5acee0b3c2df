// The arguments of `latebind embed`, and what follows from them before a model is opened.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/json_text.h"
#include "cli/data/text_reader.h"
#include "cli/data/vector_writer.h"
#include "cli/terminal/embedder_options.h"
#include "core/result.h"

namespace latebind::cli {

struct EmbedArguments {
  EmbedderOptions embedder{};
  PromptArguments prompt{};
  TextSource source{};
  std::size_t dimensions = 0;
  std::vector<std::string> outputs{};  // empty: the model's own output
  std::optional<VectorFormat> output_format{};
  // The format in use: as given, or derived from the output's name.
  VectorFormat format = VectorFormat::kJsonl;
  std::string output;
  bool restart = false;
  bool quiet = false;
};

// Texts per window of a resumable output. Constant, because resuming must not depend on the terminal.
inline constexpr std::size_t kKeptWindowTexts = 1024;

// Reads the value of --outputs, names with commas between them. Returns kInvalidArgument for an empty or repeated name.
[[nodiscard]] core::Status read_outputs(const std::string& given, std::vector<std::string>& outputs);
// Derives formats that were not given from the files' names.
[[nodiscard]] core::Status choose_formats(EmbedArguments& options);
// The files that the results go to, as far as --outputs says: the model need not have these outputs.
[[nodiscard]] std::vector<std::string> result_files(const EmbedArguments& options);
// Rejects an output that would overwrite an input.
[[nodiscard]] core::Status check_places(const EmbedArguments& options, const std::string& model);
// Whether every text is a line of a file.
[[nodiscard]] bool are_all_lines(const TextSource& source);
// Everything that affects the vectors and how they are written.
[[nodiscard]] core::Result<app::Json> kept_settings(const EmbedArguments& options);

}  // namespace latebind::cli
