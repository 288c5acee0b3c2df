// The options of the commands that turn text into vectors, and their use.
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
#include "embedding/encoder_kind.h"

namespace latebind::cli {

// MODEL, and the flags of all its settings.
struct EmbedderOptions {
  std::string model;
  SettingFlags flags{};

  void add_to(Command& app, std::string_view what = "A sentence-transformers model");
  // Replaces a name on the hub by the folder, so that commands that open the model several times query the hub once.
  // `onnx_file`: of the runtime. `kind`: of the model, for short names.
  [[nodiscard]] core::Status find_model(const std::string& onnx_file,
                                        embedding::EncoderKind kind = embedding::EncoderKind::kEmbedder);
};

// What a command puts before texts, and what they are.
struct PromptArguments {
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  std::optional<std::string> text{};
  std::optional<std::string> name{};

  // --prompt and --prompt-name, or, before another word, --WORD-prompt and --WORD-prompt-name. `what` says what they
  // are put before: "every text".
  void add_to(Command& app, const std::string& what, const std::string& word = {});
  // --role, for commands that do not know it themselves.
  void add_role_to(Command& app);
  // Refers to these.
  [[nodiscard]] embedding::PromptChoice choice() const { return {.text = text, .name = name}; }
};

// --dimensions: how many numbers of a vector are kept; 0 is all.
void add_dimensions(Command& app, std::size_t& dimensions);
// Tells where the model was not trained for fewer numbers, as far as its files say.
void note_dimensions(const embedding::Embedder& embedder, std::size_t dimensions);

// --input-format and --text-field.
void add_text_source(Command& app, TextSource& source);
// The same where the format is chosen by the files' names unless it is given.
void add_text_source(Command& app, TextSource& source, std::optional<TextFormat>& format);
// Opens the texts of a command. Says so on stderr if they come from the terminal.
[[nodiscard]] core::Result<TextReader> open_texts(const TextSource& source);

// Whether opening reports a fallback on stderr: a command reports it once, even when it opens twice.
enum class Telling { kFallback, kNothing };

// Finds the model and loads it. `runtime` must outlive the embedder.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_embedder(const EmbedderOptions& options,
                                                                               const app::Runtime& runtime,
                                                                               Telling telling = Telling::kFallback);

// The same for the network of a model of another kind, or of any; of a router, with a role, for such texts alone.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_network(
    const EmbedderOptions& options, const app::Runtime& runtime, std::optional<embedding::EncoderKind> kind,
    Telling telling = Telling::kFallback, embedding::TextRole role = {});

// Smaller windows on a terminal, so that the bar moves every second or two; they cost a little padding. Refers to
// `prompt`.
[[nodiscard]] embedding::EmbedStreamOptions stream_options(const Progress& progress, const PromptArguments& prompt,
                                                           std::size_t dimensions);

// "2000 texts in 4.1 s on openvino:CPU (…), f32: 486 texts/s, 14100 tokens/s, 3.1 % padding"; `seconds` of wall time.
[[nodiscard]] std::string summary(const embedding::EmbedStats& stats, double seconds,
                                  const embedding::Embedder& embedder);

// How many of these texts a fallback computed, if the model's own device answers again and its attestation no longer
// shows it; else "".
[[nodiscard]] std::string fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after);
void note_fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after);

}  // namespace latebind::cli
