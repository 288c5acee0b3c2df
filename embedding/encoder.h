// Encoder: a placed model. It turns inputs into the results of its outputs, all of them from one forward pass.
//
// Embedder, CrossEncoder and MultiVectorEncoder are views of it for one kind of result; a router has two of it
// (router.h), and an Encoder knows of no routes. Thread-safe after construction: encode() may be called from many
// threads, which then share the requests of the executable. The engine's registry must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine.h"
#include "core/result.h"
#include "embedding/embed_stats.h"
#include "embedding/inputs/input.h"
#include "embedding/inputs/text_options.h"
#include "embedding/results.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

class Pipeline;
struct BatchRecord;
struct BoundOutput;
struct QueueState;
struct Specification;
struct TextLimits;

struct EncoderOptions {
  // Its static lengths are cut at the model's limit, which is added; without any they are 32, 64, 128, 256 and 512.
  core::LoadOptions load{};
  // Tokens of a batch, padding included; 0: what suits the device. One text longer than that is a batch by itself.
  std::size_t batch_tokens = 0;
  // Tokens of one text, special tokens included; 0: what the model folder says.
  std::size_t max_tokens = 0;
  // The names of the outputs that calls can ask for. Empty: the model's own. Others cost time in each run.
  std::vector<std::string> outputs{};
  // Called after every batch that was computed: embedding/scheduler.h.
  std::function<void(const BatchRecord&)> on_batch{};
};

// Options of one call.
struct EmbedOptions {
  TextOptions texts{};
  // The texts are computed in batches of their own: the same call gives the same bits, whatever others do. Else they
  // may share batches with those of other calls, which is faster for many calls with few texts each.
  bool alone = false;
  // With any, the call returns in time, whatever the vendor does.
  core::RunOptions limits{};
  // Receives the tokens of each text, as computed; as long as there are texts, or empty.
  std::span<std::uint32_t> token_counts{};
  // Receives which device computed them; where several did, one that is a fallback.
  std::shared_ptr<const core::Attestation>* answered_by = nullptr;
};

// Receives the vectors of the tokens of some texts, `vector_counts` for each, from text `first` on.
using TokenSink = std::function<void(std::size_t first, std::span<const std::uint32_t> vector_counts,
                                     std::span<const float> vectors)>;

// A sink that appends to `rows`, whose dimension is set.
[[nodiscard]] TokenSink collect_into(RaggedRows& rows);

// Where the results of one output go: the member for the output's form.
struct OutputSink {
  std::size_t output = 0;             // its position in Encoder::outputs()
  std::span<float> rows{};            // a row for each input, in their order
  std::span<SparseVector> sparse{};   // one for each input
  const TokenSink* ragged = nullptr;  // is called for some inputs after the other, in their order
};

class Encoder {
 public:
  // Builds or finds the graph, places and loads it.
  static core::Result<Encoder> open(const core::Engine& engine, const Specification& model,
                                    const core::Placement& placement, const EncoderOptions& options);
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  // The model's name, for messages.
  [[nodiscard]] const std::string& name() const;
  // The outputs for which it was opened.
  [[nodiscard]] std::span<const BoundOutput> outputs() const;
  // The length of a row of the first output: of a vector, or the number of scores or of the vocabulary's entries.
  [[nodiscard]] std::size_t dimension() const;
  // Texts with this role are cut to this many tokens.
  [[nodiscard]] std::size_t max_tokens(TextRole role = TextRole::kDocument) const;
  // Tokens of a batch, padding included.
  [[nodiscard]] std::size_t batch_tokens() const;
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const;
  // Abandoned runs that have not returned from the vendor: core/placed_model.h.
  [[nodiscard]] std::size_t hung_runs() const;
  // The prompts of the model's files, and how texts become ids.
  [[nodiscard]] const Prompts& prompts() const;
  [[nodiscard]] const TextLimits& limits() const;
  // May outlive the encoder.
  [[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer() const;
  // What waits and what runs, for all callers.
  [[nodiscard]] QueueState queue_state() const;

  // Compiles now what is otherwise compiled when a text first needs it, such as every static length.
  [[nodiscard]] core::Status prepare() const;

  // Gives the results of all `sinks` from one forward pass. An empty text embeds as the reference does.
  // kInvalidArgument for a prompt that the model does not have, for a text that is not UTF-8, naming its position and
  // the byte, and for ids that are unknown or missing. kBufferTooSmall where a sink has no room for all results.
  // kInternal for a vector that is not finite, naming the position and the device. On error the results are
  // unspecified.
  [[nodiscard]] core::Result<EmbedStats> encode(const InputList& inputs, std::span<const OutputSink> sinks,
                                                const EmbedOptions& options = {}) const;
  // The same as values, for the outputs of these names; without any, for all of outputs(). kUnsupported for outputs for
  // which the encoder was not opened.
  [[nodiscard]] core::Result<Results> encode(const InputList& inputs, std::span<const std::string> outputs,
                                             const EmbedOptions& options = {}) const;

 private:
  friend class EmbedStream;
  friend class EmbedTask;
  struct Parts;
  explicit Encoder(std::unique_ptr<Parts> parts);
  [[nodiscard]] Pipeline& pipeline() const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace latebind::embedding
