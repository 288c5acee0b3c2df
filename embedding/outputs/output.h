// Output: a kind of result that a model gives, such as a vector for each text. outputs.cpp has the only list of kinds.
//
// An Output holds the parameters that a model's files give to its kind. It knows which end of the network it needs and
// how the numbers of that end become results. One forward pass serves all requested outputs. Immutable; safe for
// concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/onnx_reader.h"
#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/network_spec.h"
#include "embedding/inputs/input.h"
#include "embedding/outputs/sparse_vector.h"

namespace latebind::embedding {

struct OutputKind;
struct Prompts;
class Tokenizer;

// The form of the results of one input.
enum class ResultForm : std::uint8_t {
  kRow,         // a vector, or scores
  kSparseRow,   // the weights of some of the vocabulary's entries
  kRaggedRows,  // a vector for each token that has one
};

// An output of a loaded model, from which one or several Outputs take their numbers.
struct ModelEnd {
  std::size_t position = 0;   // among the outputs of the model
  bool pooled = false;        // [batch, dimension], else [batch, tokens, dimension]
  std::size_t dimension = 0;  // 0 for the model's declaration
};

// The outputs of a ready ONNX file, and the network as the folder declares it.
struct OnnxFile {
  const std::string& name;  // for messages
  const graph::OnnxSignature& signature;
  const NetworkSpec& network;
};

// The tokens of a text in a batch, as far as outputs depend on them.
struct RowTokens {
  std::size_t count = 0;
  std::span<const std::int32_t> ids{};
  // The first token that take() pools, if the pooling leaves out a prompt.
  std::size_t pooled_from = 0;
  // 1 for each token that has a vector, else 0; empty if all have one.
  std::span<const std::uint8_t> kept{};
};

// The destination of the results of one row: `sparse` for sparse rows, else `numbers`. Both are null if the output was
// not requested.
struct RowTarget {
  float* numbers = nullptr;
  SparseVector* sparse = nullptr;
};

class Output {
 public:
  explicit Output(const OutputKind& kind) : kind_(&kind) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  [[nodiscard]] const OutputKind& kind() const { return *kind_; }

  // Returns the end of the network that the output needs. With `from_states`, the token vectors of the network, if the
  // output can be computed from them here.
  [[nodiscard]] virtual NetworkEnd end(bool from_states) const = 0;
  // Returns the output of a ready ONNX file that the output needs. Returns kUnsupported if no output matches, and
  // kInvalidModel if it contradicts the folder.
  [[nodiscard]] virtual core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const = 0;
  // Returns true if a ready ONNX file of the network may have the input position_ids, which counts tokens from 0.
  [[nodiscard]] virtual bool counts_positions() const { return false; }
  // Returns true if the network cannot pool the tokens, because the pooling leaves out those of a prompt.
  [[nodiscard]] virtual bool pools_here() const { return false; }

  // Returns the number of floats in a computed row.
  [[nodiscard]] virtual std::size_t row_size(const ModelEnd& end) const { return end.dimension; }
  // Returns how many leading floats of a computed row callers get who ask for no other number.
  [[nodiscard]] virtual std::size_t kept_of(std::size_t computed) const { return computed; }
  // Turns the numbers of one row into its results. `numbers` has one row of `dimension` numbers if the end is pooled,
  // else one for each token. `scratch` is memory that is reused between calls.
  virtual void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
                    std::vector<float>& scratch) const = 0;
  // Computes the results for these ids from a table, for models with a table instead of a network.
  virtual void look_up(const TermTable& /*table*/, std::span<const std::int32_t> /*ids*/, SparseVector& /*to*/) const {}
  // Returns the output with the ids of its tokens, once the tokenizer is read; null if it needs none.
  [[nodiscard]] virtual std::shared_ptr<const Output> with_tokenizer(const Tokenizer& /*tokenizer*/) const {
    return nullptr;
  }
  // The number of tokens at the front of a text that have no vector in ragged rows.
  [[nodiscard]] virtual std::size_t leading_left_out() const { return 0; }
  // Completes a row of a pooled end, which the device wrote directly to its target.
  virtual void complete(std::span<float> /*row*/) const {}

  // The mode by which token vectors become one vector.
  [[nodiscard]] virtual graph::PoolingMode pooling() const { return graph::PoolingMode::kMean; }
  // Returns whether vectors always have length 1.
  [[nodiscard]] virtual bool normalizes() const { return false; }

  // Returns the parameters as an object, for people and programs.
  [[nodiscard]] virtual core::Json describe() const = 0;

 private:
  const OutputKind* kind_;
};

using OutputList = std::vector<std::shared_ptr<const Output>>;

// The parts of a folder that decide about outputs.
struct Declaration {
  const ModelFiles& files;
  const Modules& modules;
  const FolderContents& contents;
  const Prompts& prompts;
};

// A head on top of the encoder. Some outputs need one unless modules replace it.
struct HeadKind {
  std::string_view task;  // "sequence classification", for messages
  // The entries of sentence_bert_config.json: the task, whether the file may omit it, and the name of the head's
  // output.
  std::string_view transformer_task;
  bool is_default_task = false;
  std::string_view module_output_name = "token_embeddings";
  bool (*is_known)(const Architecture& architecture);
  core::Result<NetworkHead> (*read)(const Architecture& architecture, const core::Json& config,
                                    const std::filesystem::path& file);
};

struct OutputKind {
  std::string_view name;  // the name in specifications, options and commands
  ResultForm form{};
  std::string_view noun{};  // its results in messages: "vectors of texts"
  // The following members describe models that have this as the first output. `input` is null if the kind only
  // accompanies another output.
  const Input* input = nullptr;
  std::string_view model{};  // what such a model is called: "cross-encoder"
  // The organisation on the hub to which short names of such models belong; "" if they have no short names.
  std::string_view hub_owner{};
  // What such a model is for, and the class that opens it; see no_such_output().
  std::string_view purpose{};
  std::string_view programs{};
  std::string_view heading{};  // of such models in a list
  bool may_have_routes = false;
  bool has_roles = false;        // queries and documents may be treated differently
  bool assumes_pooling = false;  // without a modules.json, how tokens are pooled is an assumption
  // Returns whether a folder declares this kind (optional).
  bool (*is_declared)(const Declaration& given) = nullptr;
  // Checks the modules before other files are read (optional). Returns kUnsupported, naming the file.
  core::Status (*check_modules)(const Declaration& given) = nullptr;
  // Returns the head that the kind needs in the network, or null if it needs none (optional).
  const HeadKind* (*find_head)(const Modules& modules) = nullptr;
  // Reads the parameters. Returns kInvalidModel or kUnsupported, naming the file and the key. A kind without `input`
  // is read for every model that has a network.
  core::Result<std::shared_ptr<const Output>> (*read)(const Declaration& given, const NetworkSpec& network);
  // A file beside the weights of a network with another own output, which adds this kind (optional). Reads it, and may
  // add its tensors to the network's weights.
  std::string_view file_beside{};
  core::Result<std::shared_ptr<const Output>> (*read_beside)(const Declaration& given, NetworkSpec& network) = nullptr;
};

// An output of a placed model, and the end of the model that gives its numbers.
struct BoundOutput {
  std::shared_ptr<const Output> output;
  ModelEnd end{};

  [[nodiscard]] ResultForm form() const { return output->kind().form; }
  // The number of floats in a row of the results, unless a call asks for another one.
  [[nodiscard]] std::size_t dimension() const { return output->kept_of(computed()); }
  // The number of floats in a computed row: the most that a call can ask for.
  [[nodiscard]] std::size_t computed() const { return output->row_size(end); }
};

[[nodiscard]] std::span<const OutputKind* const> output_kinds();
// Returns the kind with this name, or null.
[[nodiscard]] const OutputKind* find_output_kind(std::string_view name);
// Returns the error for an output that a model does not have. It lists the outputs that the model has, and says what
// the model is for. The first of `outputs` is the model's own output.
[[nodiscard]] core::Status no_such_output(std::string_view model, std::string_view wanted, const OutputList& outputs);
// Returns the kind that a folder declares, which is the first output of the model. Returns kUnsupported for other kinds
// of models.
[[nodiscard]] core::Result<const OutputKind*> read_output_kind(const Declaration& given);

// Returns the output as a T, or null if it is of another kind.
template <class T>
[[nodiscard]] const T* as(const Output& output) {
  return dynamic_cast<const T*>(&output);
}

}  // namespace latebind::embedding
