// Encoder: a placed model that turns inputs into the results of its outputs, all from one forward pass.
//
// Embedder, CrossEncoder and MultiVectorEncoder are views of it for one kind of result. A router holds two encoders
// (router.h); an encoder itself has no routes. Thread-safe after construction: many threads may call encode(), and they
// share the requests of the executable. The engine's registry must outlive the encoder.
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

#include "core/engine/engine.h"
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
  // How the model is loaded. Static lengths are cut at the model's limit, which is added; the default lengths are 32,
  // 64, 128, 256 and 512.
  core::LoadOptions load{};
  // Tokens of a batch, padding included; 0 selects what suits the device. A longer text is a batch by itself.
  std::size_t batch_tokens = 0;
  // Tokens of one text, special tokens included; 0 takes the limit from the model folder.
  std::size_t max_tokens = 0;
  // The names of the outputs that calls can request. If empty, the model's own output. Outputs that need another end
  // of the network cost time in each run; see Specification::shares_one_end().
  std::vector<std::string> outputs{};
  // Called after every computed batch; see Scheduler::OnBatch.
  std::function<void(const BatchRecord&)> on_batch{};
};

// The options of one call.
struct EmbedOptions {
  TextOptions texts{};
  // The batches contain only the texts of this call, so that the same call gives the same bits whatever other callers
  // do. Otherwise texts may share batches with other calls, which is faster for many calls with few texts each.
  bool alone = false;
  // If bounded, the call returns in time, even if the vendor's call does not.
  core::RunOptions limits{};
  // Receives the number of computed tokens of each text. Has at least one entry for each text, or is empty.
  std::span<std::uint32_t> token_counts{};
  // If not null, receives the attestation of the device that computed the texts; that of a fallback if any batch ran on
  // a fallback.
  std::shared_ptr<const core::Attestation>* answered_by = nullptr;
};

// Receives the token vectors of some texts from text `first` on, `vector_counts` vectors for each text.
using TokenSink = std::function<void(std::size_t first, std::span<const std::uint32_t> vector_counts,
                                     std::span<const float> vectors)>;

// Returns a sink that appends to `rows`, without setting its dimension.
[[nodiscard]] TokenSink collect_into(RaggedRows& rows);

// The destination of the results of one output. Only the member for the output's form is used.
struct OutputSink {
  std::size_t output = 0;             // its position in Encoder::outputs()
  std::span<float> rows{};            // a row for each input, in the order of the inputs
  std::span<SparseVector> sparse{};   // one vector for each input
  const TokenSink* ragged = nullptr;  // called with groups of inputs, in the order of the inputs
};

class Encoder {
 public:
  // Builds or finds the graph, places it and loads it. Returns the first error of these steps.
  static core::Result<Encoder> open(const core::Engine& engine, const Specification& model,
                                    const core::Placement& placement, const EncoderOptions& options);
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  ~Encoder();

  // The model's name, for messages.
  [[nodiscard]] const std::string& name() const;
  // The kind of input that the model takes.
  [[nodiscard]] const Input& input() const;
  // The outputs for which the encoder was opened.
  [[nodiscard]] std::span<const BoundOutput> outputs() const;
  // Returns the positions of the named outputs among outputs(), or all positions if `names` is empty. Returns
  // kUnsupported for an output for which the encoder was not opened.
  [[nodiscard]] core::Result<std::vector<std::size_t>> find_outputs(std::span<const std::string> names) const;
  // The length of a row of the first output: the dimension of a vector, the number of scores, or the size of the
  // vocabulary.
  [[nodiscard]] std::size_t dimension() const;
  // The largest number of tokens of a text with this role; longer texts are cut.
  [[nodiscard]] std::size_t max_tokens(TextRole role = TextRole::kDocument) const;
  // Tokens of a batch, padding included.
  [[nodiscard]] std::size_t batch_tokens() const;
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const;
  // The number of abandoned runs whose vendor call has not returned; see core/failover/placed_model.h.
  [[nodiscard]] std::size_t hung_runs() const;
  // The prompts of the model's files, and the limits by which texts become ids.
  [[nodiscard]] const Prompts& prompts() const;
  [[nodiscard]] const TextLimits& limits() const;
  // The tokenizer, which may outlive the encoder.
  [[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer() const;
  // The waiting and the running work of all callers.
  [[nodiscard]] QueueState queue_state() const;

  // Compiles in advance what is otherwise compiled when a text first needs it, such as every static length.
  [[nodiscard]] core::Status prepare() const;

  // Computes the results of all `sinks` in one forward pass. An empty text embeds as the reference does. Returns
  // kInvalidArgument for a prompt that the model does not have, for a text that is not UTF-8 (the message names its
  // position and the byte), and for unknown or missing ids; kBufferTooSmall if a sink has no room for all results;
  // kInternal for a vector that is not finite (the message names the position and the device); kDeadlineExceeded or
  // kCancelled if options.limits end first. After an error the results are unspecified.
  [[nodiscard]] core::Result<EmbedStats> encode(const InputList& inputs, std::span<const OutputSink> sinks,
                                                const EmbedOptions& options = {}) const;
  // The same as values, for find_outputs(outputs).
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
