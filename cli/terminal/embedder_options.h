// Options and helpers for commands that compute vectors of texts.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/data/text_reader.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/runtime_options.h"
#include "core/result.h"
#include "embedding/embed_stream.h"
#include "embedding/embedder.h"

namespace latebind::cli {

// MODEL and the flags of all its settings.
struct EmbedderOptions {
  std::string model;
  bool model_is_argument = false;
  SettingFlags flags{};

  void add_to(Command& app, std::string_view what = "A sentence-transformers model");
  // Replaces a name on the hub with the folder, so that commands that open the model several times query the hub once.
  // `onnx_file` is that of the runtime. `output`, the name of the wanted output, selects among short names.
  [[nodiscard]] core::Status find_model(const std::string& onnx_file, std::string_view output = {});
};

// The role of a command's texts, and the prompt put before them.
struct PromptArguments {
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  std::optional<std::string> text{};
  std::optional<std::string> name{};
  std::optional<std::string> task{};

  // Adds --prompt, --prompt-name and --task, or --WORD-prompt, --WORD-prompt-name and --WORD-task. `what` names the
  // texts in the help: "every text".
  void add_to(Command& app, const std::string& what, const std::string& word = {});
  // Adds --role, for commands that do not imply it.
  void add_role_to(Command& app);
  // The result refers to this object.
  [[nodiscard]] embedding::PromptChoice choice() const { return {.text = text, .name = name, .task = task}; }
};

// Adds --dimensions, the number of leading values of a vector to keep; 0 means all.
void add_dimensions(Command& app, std::size_t& dimensions);
// Prints a note if the model's files do not say that it was trained for shorter vectors.
void note_dimensions(const embedding::Embedder& embedder, std::size_t dimensions);

// What a command does with the ids of texts.
enum class TextIds { kDropped, kShown, kWritten };
// Adds --input-format, --text-field and, where a command keeps ids, --id-field.
void add_text_source(Command& app, TextSource& source, TextIds ids);
// Prints a note if files of folders were read by their lines because they have no such field.
void note_files_by_lines(std::size_t files, const TextSource& source);
// Whether a command has the option --text, which the error for a missing file then suggests.
enum class TextOption { kNone, kText };
// Opens the texts of a command. Prints a note on stderr if they come from a terminal.
[[nodiscard]] core::Result<TextReader> open_texts(const TextSource& source, TextOption option = TextOption::kNone);

// Whether opening a model reports a fallback on stderr. A command reports it once, even if it opens the model twice.
enum class FallbackNote { kPrint, kOmit };

// Finds the model and loads it for its own output, or for the output with this name. `runtime` must outlive the result.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_network(
    const EmbedderOptions& options, const app::Runtime& runtime, std::string_view output = {},
    FallbackNote fallback_note = FallbackNote::kPrint);

// The same for comparing texts: for all outputs of the model's comparison (embedding/comparison.h), or its own
// output if it has none. `short_names` is the output by which a short name is resolved.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_comparing(const EmbedderOptions& options,
                                                                                const app::Runtime& runtime,
                                                                                std::string_view short_names = {});

// Uses smaller windows on a terminal, at the cost of a little padding, so that the progress bar moves every second or
// two. The result refers to `prompt`.
[[nodiscard]] embedding::EmbedStreamOptions stream_options(const Progress& progress, const PromptArguments& prompt,
                                                           std::size_t dimensions);

// "2000 texts in 4.1 s on openvino:CPU (…), f32: 486 texts/s, 14100 tokens/s, 3.1 % padding". `seconds` is wall time.
[[nodiscard]] std::string summary(const embedding::EmbedStats& stats, double seconds,
                                  const embedding::Embedder& embedder);

// Describes how many texts a fallback computed if the model has since returned to its device, so that its attestation
// no longer shows the fallback. Otherwise "".
[[nodiscard]] std::string fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after);
void note_fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after);

}  // namespace latebind::cli
