// Embedder: text to vectors, with an unmodified sentence-transformers model folder from the hub.
//
// Of a router it has two ways, each with a pipeline of its own, and texts take that of their role; what it says of
// itself is of its way for documents. Thread-safe after construction: embed() may be called from many threads, which
// then share the requests of the executable. The engine's registry must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine.h"
#include "core/graph/operators.h"
#include "core/result.h"
#include "embedding/embed_stats.h"
#include "embedding/encoder_kind.h"
#include "embedding/prompts.h"
#include "embedding/text_role.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

struct BatchRecord;
struct ModelFolder;
struct SparseVector;
struct QueueState;
struct TextLimits;
struct TextPair;

struct EmbedderOptions {
  // Its static lengths are cut at the model's limit, which is added; without any they are 32, 64, 128, 256 and 512.
  core::LoadOptions load{};
  // Tokens of a batch, padding included; 0: what suits the device. One text longer than that is a batch by itself.
  std::size_t batch_tokens = 0;
  // Tokens of one text, special tokens included; 0: what the model folder says.
  std::size_t max_tokens = 0;
  // The ONNX file of the model's folder that is used instead of its weights: FolderOptions.
  std::string onnx_file{};
  // The model's vectors of tokens, neither pooled nor normalised, instead of those of texts: for EmbedTask alone.
  bool token_vectors = false;
  // What the model must be; nothing: either, for CrossEncoder and those who ask kind() afterwards.
  std::optional<EncoderKind> kind = EncoderKind::kEmbedder;
  // Of a router, only the way for these texts, so that nothing is loaded in vain; kUnsaid: both.
  TextRole role = TextRole::kUnsaid;
  // Hears of every batch that was computed: embedding/scheduler.h.
  std::function<void(const BatchRecord&)> on_batch{};
};

// Per-call deviations from how the embedder was opened.
struct TextOptions {
  // Only the first numbers of a vector, normalised again where it was (Kusupati et al., "Matryoshka Representation
  // Learning", 2022: for models trained for this); 0: all.
  std::size_t dimensions = 0;
  // Tokens of one text, special tokens included, at most as many as the embedder takes, which is also the meaning of 0.
  std::size_t max_tokens = 0;
  // A longer text is kTextTooLong, instead of being cut.
  bool refuse_longer = false;
  // A longer text is cut at its beginning instead of its end.
  bool keep_end = false;
  // Vectors of length 1, even if the model does not normalise.
  bool normalize = false;
  // What the texts are: a model may have a prompt for it, or a way of its own.
  TextRole role = TextRole::kUnsaid;
  // What is put before every text instead of what the model says. With token ids there is no choice to make.
  PromptChoice prompt{};
};

// The vectors of the tokens of texts, one after the other.
struct TokenVectors {
  std::size_t dimension = 0;
  std::vector<float> numbers{};
  std::vector<std::size_t> begins{0};  // text i has the vectors from begins[i] to before begins[i + 1]

  [[nodiscard]] std::size_t size() const { return begins.size() - 1; }
  [[nodiscard]] std::span<const float> of(std::size_t text) const {
    return std::span(numbers).subspan(begins[text] * dimension, (begins[text + 1] - begins[text]) * dimension);
  }
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

class Embedder {
 public:
  // Reads the folder, builds or finds the graph, places and loads it.
  static core::Result<std::unique_ptr<Embedder>> open(const core::Engine& engine,
                                                      const std::filesystem::path& model_folder,
                                                      const core::Placement& placement, const EmbedderOptions& options);
  ~Embedder();

  // Of the model, for messages.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] EncoderKind kind() const;
  // Length of a vector, how many numbers a pair has, or how many entries the vocabulary.
  [[nodiscard]] std::size_t dimension() const;
  // Texts are cut to this many tokens; of a multi-vector encoder those of this role.
  [[nodiscard]] std::size_t max_tokens(TextRole role = TextRole::kDocument) const;
  // Tokens of a batch, padding included.
  [[nodiscard]] std::size_t batch_tokens() const;
  // See EmbedderOptions; or of a multi-vector encoder, whose vectors may have length 1 and are compared by the mean.
  [[nodiscard]] bool gives_token_vectors() const;
  [[nodiscard]] bool normalizes_token_vectors() const;
  [[nodiscard]] bool compares_by_mean() const;
  // How token vectors become a text's vector, and whether it has length 1 whatever a call asks for.
  [[nodiscard]] graph::PoolingMode pooling() const;
  [[nodiscard]] bool normalizes() const;
  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const;
  // It is of a router.
  [[nodiscard]] bool has_ways() const;
  // Of texts with this role: the tokenizer, limits and attestation of a router's ways differ. kInvalidArgument where
  // the role has to be said and is not.
  [[nodiscard]] core::Result<const Embedder*> way_of(TextRole role) const;
  // Abandoned runs that have not returned from the vendor: core/placed_model.h.
  [[nodiscard]] std::size_t hung_runs() const;

  // What the model's files offer besides: see ModelFolder.
  [[nodiscard]] const Prompts& prompts() const;
  // How its texts become ids.
  [[nodiscard]] const TextLimits& limits() const;
  [[nodiscard]] std::span<const std::size_t> matryoshka_dimensions() const;

  // What waits and what runs, of all callers.
  [[nodiscard]] QueueState queue_state() const;

  // Compiles now what is otherwise compiled when a text first needs it, such as every static length.
  [[nodiscard]] core::Status prepare() const;

  // Writes texts.size() rows of dimension() (or options.texts.dimensions) floats to `out`, in the order of the texts.
  // An empty text embeds as the reference does. kInvalidArgument is for a prompt that there is not and for a role that
  // has to be said, and names the text's position and the byte when one is not UTF-8, kInternal the position and the
  // device when a vector is not finite. On error `out` is unspecified.
  [[nodiscard]] core::Result<EmbedStats> embed(std::span<const std::string_view> texts, std::span<float> out,
                                               const EmbedOptions& options = {}) const;

  // The same for texts whose token ids are known, special tokens included: no prompt is put before them.
  // kInvalidArgument names a text that has none, and unknown ids, and is for a prompt that was chosen.
  using Ids = std::span<const std::int32_t>;
  [[nodiscard]] core::Result<EmbedStats> embed_ids(std::span<const Ids> texts, std::span<float> out,
                                                   const EmbedOptions& options = {}) const;

  // The same with a sparse vector for each text, of a model that gives those: out.size() is at least that of the texts.
  [[nodiscard]] core::Result<EmbedStats> embed_sparse(std::span<const std::string_view> texts,
                                                      std::span<SparseVector> out,
                                                      const EmbedOptions& options = {}) const;

  // The same with vectors of tokens, of an embedder that gives those: appends to `out`, whose dimension is set.
  // options.texts has neither dimensions nor `normalize`.
  [[nodiscard]] core::Result<EmbedStats> embed_tokens(std::span<const std::string_view> texts, TokenVectors& out,
                                                      const EmbedOptions& options = {}) const;
  // The same to `sink`, some texts after the other in their order, so that no more than those are in memory.
  using TokenSink = std::function<void(std::size_t first, std::span<const std::uint32_t> vector_counts,
                                       std::span<const float> vectors)>;
  [[nodiscard]] core::Result<EmbedStats> embed_tokens(std::span<const std::string_view> texts, const TokenSink& sink,
                                                      const EmbedOptions& options = {}) const;

  // The same for pairs of texts, with a number for each label instead of a vector: for CrossEncoder, which makes scores
  // of them.
  [[nodiscard]] core::Result<EmbedStats> embed_pairs(std::span<const TextPair> pairs, std::span<float> out,
                                                     const EmbedOptions& options = {}) const;

  // May outlive the embedder.
  [[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer() const;

 private:
  friend class EmbedStream;
  friend class EmbedTask;
  friend class CrossEncoder;
  struct Parts;
  static core::Result<std::unique_ptr<Embedder>> open_way(const core::Engine& engine, const ModelFolder& folder,
                                                          const core::Placement& placement,
                                                          const EmbedderOptions& options);
  template <class Tokenize>
  core::Result<EmbedStats> embed_rows(std::size_t count, std::span<float> out, const EmbedOptions& options,
                                      const Tokenize& tokenize) const;
  template <class Tokenize, class Rows>
  core::Result<EmbedStats> embed_windows(std::size_t count, const Rows& rows, const EmbedOptions& options,
                                         const Tokenize& tokenize) const;
  explicit Embedder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace latebind::embedding
