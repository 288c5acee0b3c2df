// The options of the commands that turn text into vectors, and what becomes of them.
#pragma once

#include <memory>
#include <string>

#include "cli/data/text_reader.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/runtime_options.h"
#include "core/result.h"
#include "embedding/embed_stream.h"
#include "embedding/embedder.h"

namespace latebind::cli {

// --model, and the flags of everything that can be set for it.
struct EmbedderOptions {
  std::string model;
  SettingFlags flags{};

  void add_to(CLI::App& app);
  // Puts the folder in the place of a name on the hub, so that commands that open the model several times ask once.
  [[nodiscard]] core::Status find_model();
};

// --input-format and --text-field.
void add_text_source(CLI::App& app, TextSource& source);

// Whether opening says on stderr that it is a fallback: a command tells it once, also when it opens twice.
enum class Telling { kFallback, kNothing };

// Finds the model and loads it. `runtime` must outlive the embedder.
[[nodiscard]] core::Result<std::unique_ptr<embedding::Embedder>> open_embedder(const EmbedderOptions& options,
                                                                               const app::Runtime& runtime,
                                                                               Telling telling = Telling::kFallback);

// Smaller windows when a person watches, so that the bar moves every second or two; they cost a little padding.
[[nodiscard]] embedding::EmbedStreamOptions stream_options(const Progress& progress);

// "2000 texts in 4.1 s on openvino:CPU (…), f32: 486 texts/s, 14100 tokens/s, 3.1 % padding"; `seconds` of wall time.
[[nodiscard]] std::string summary(const embedding::EmbedStats& stats, double seconds,
                                  const embedding::Embedder& embedder);

// What of these texts a fallback computed when the model's device answers again, which its attestation does not tell
// any more; else "".
[[nodiscard]] std::string fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after);
void note_fallback_texts(const embedding::EmbedStats& stats, const core::Attestation& after);

}  // namespace latebind::cli
