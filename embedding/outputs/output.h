// Output: a kind of result that a model gives, such as a vector for each text. outputs.cpp has the only list of kinds.
//
// An Output has the parameters that a model's files give to its kind. It says which end of the network it needs, what
// is done with the numbers that come out there, and how two results compare. One forward pass serves all outputs that a
// call asks for. Immutable; safe for concurrent use.
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
#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/encoder_kind.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/network_spec.h"
#include "embedding/inputs/input.h"
#include "embedding/outputs/sparse_vector.h"

namespace latebind::embedding {

struct OutputKind;
struct Prompts;

// What one input's results consist of.
enum class ResultForm : std::uint8_t {
  kRow,         // a vector, or scores
  kSparseRow,   // weights of some of the vocabulary's entries
  kRaggedRows,  // a vector for each token that has one
};

// An output of a loaded model, from which one or several Outputs take their numbers.
struct ModelEnd {
  std::size_t position = 0;   // among the outputs of the model
  bool pooled = false;        // [batch, dimension], else [batch, tokens, dimension]
  std::size_t dimension = 0;  // 0: what the model declares
};

// The outputs of a ready ONNX file, and what the folder says about its network.
struct OnnxFile {
  const std::string& name;  // for messages
  const graph::OnnxSignature& signature;
  const NetworkSpec& network;
};

// A text's tokens in a batch, as far as outputs depend on them.
struct RowTokens {
  std::size_t count = 0;
  // The first token that is pooled here, where the pooling leaves out a prompt.
  std::size_t pooled_from = 0;
  // Which tokens have a vector, 1 or 0 for each; empty: all.
  std::span<const std::uint8_t> kept{};
};

// Where the results of one row go: `sparse` for sparse rows, else `numbers`. Both null: nobody wants them.
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

  // The end of the network that gives the numbers. `from_states`: the network's vectors of tokens, if the output can be
  // computed from them here.
  [[nodiscard]] virtual NetworkEnd end(bool from_states) const = 0;
  // The output of a ready ONNX file that gives the numbers. kUnsupported where there is none, kInvalidModel where it
  // contradicts the folder.
  [[nodiscard]] virtual core::Result<ModelEnd> find_end(const OnnxFile& file, bool from_states) const = 0;
  // Whether the network cannot pool the tokens: the pooling leaves out those of a prompt.
  [[nodiscard]] virtual bool pools_here() const { return false; }

  // Turns the numbers of one row into its results. `numbers` has a row of `dimension` numbers where the end is pooled,
  // else one for each token; `scratch` is memory that is kept between calls.
  virtual void take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
                    std::vector<float>& scratch) const = 0;
  // The results for these ids from a table, where the model has one instead of a network.
  virtual void look_up(const TermTable& /*table*/, std::span<const std::int32_t> /*ids*/, SparseVector& /*to*/) const {}
  // Completes a row that the device has written to its target.
  virtual void complete(std::span<float> /*row*/) const {}

  // How vectors of tokens become one.
  [[nodiscard]] virtual graph::PoolingMode pooling() const { return graph::PoolingMode::kMean; }
  // Whether vectors have length 1 in any case.
  [[nodiscard]] virtual bool normalizes() const { return false; }

  // The parameters, for people and programs: an object.
  [[nodiscard]] virtual nlohmann::json describe() const = 0;

 private:
  const OutputKind* kind_;
};

using OutputList = std::vector<std::shared_ptr<const Output>>;

// What a folder says, as far as it decides about outputs.
struct Declaration {
  const ModelFiles& files;
  const Modules& modules;
  const FolderContents& contents;
  const Prompts& prompts;
};

// A head on top of the encoder, which some outputs need unless modules take its place.
struct HeadKind {
  std::string_view task;  // "sequence classification", for messages
  // In sentence_bert_config.json: the task, whether that file may leave it out, and the name of the head's output.
  std::string_view transformer_task;
  bool is_default_task = false;
  std::string_view module_output_name = "token_embeddings";
  bool (*is_known)(const Architecture& architecture);
  core::Result<NetworkHead> (*read)(const Architecture& architecture, const nlohmann::json& config,
                                    const std::filesystem::path& file);
};

struct OutputKind {
  std::string_view name;  // in specifications, options and commands
  ResultForm form{};
  // Of models of which this is the first output: what they are called and what they take. Null: it is only ever beside
  // another one.
  EncoderKind encoder{};
  const Input* input = nullptr;
  // For the error of wrong_kind(): "is an embedder: …", and what a program opens it as.
  std::string_view what{};
  std::string_view programs{};
  bool may_have_routes = false;
  bool has_roles = false;  // queries and documents are treated differently
  // Whether a folder declares it.
  bool (*is_declared)(const Declaration& given) = nullptr;
  // Checks the modules before anything else is read (optional). kUnsupported, naming the file.
  core::Status (*check_modules)(const Declaration& given) = nullptr;
  // The head that it needs of the network; null: none.
  const HeadKind* (*find_head)(const Modules& modules) = nullptr;
  // Reads its parameters. kInvalidModel or kUnsupported, naming the file and the key.
  core::Result<std::shared_ptr<const Output>> (*read)(const Declaration& given, const NetworkSpec& network) = nullptr;
};

// An output of a placed model, and the end of the model that gives its numbers.
struct BoundOutput {
  std::shared_ptr<const Output> output;
  ModelEnd end{};

  [[nodiscard]] ResultForm form() const { return output->kind().form; }
  [[nodiscard]] std::size_t dimension() const { return end.dimension; }
};

[[nodiscard]] std::span<const OutputKind* const> output_kinds();
// The kind that a folder declares as its own: the first output of the model. kUnsupported for other kinds of models.
[[nodiscard]] core::Result<const OutputKind*> read_output_kind(const Declaration& given);

// The output as what it is; null for one of another kind.
template <class T>
[[nodiscard]] const T* as(const Output& output) {
  return dynamic_cast<const T*>(&output);
}

}  // namespace latebind::embedding
