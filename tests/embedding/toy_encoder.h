// A model of token ids in memory, and a tokenizer for it: what stands above the backend contract can be tested without
// a vendor. The vector of a text depends on its ids and their positions, and on nothing else of its batch.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/vendor/vendor_call.h"
#include "embedding/forward.h"
#include "embedding/outputs/dense.h"
#include "embedding/outputs/pooling.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::test {

using Infos = std::vector<core::TensorInfo>;

inline constexpr std::size_t kToyDimension = 5;

// Component `d` of the token vector of `id` at `position`.
inline float toy_state(std::int64_t id, std::size_t position, std::size_t d) {
  return static_cast<float>(std::sin(0.37 * static_cast<double>(id) + 1.3 * static_cast<double>(d)) +
                            0.01 * static_cast<double>(position));
}

// What a toy embedder must give: the mean of the token vectors of `ids`, normalised.
inline std::vector<float> toy_vector(const std::vector<std::int32_t>& ids, std::size_t dimension = kToyDimension) {
  std::vector<float> states;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    for (std::size_t d = 0; d < dimension; ++d)
      states.push_back(toy_state(ids[t], t, d));
  }
  std::vector<float> out(dimension);
  embedding::pool(embedding::PoolingMode::kMean, states, out);
  embedding::normalize(out);
  return out;
}

// What an embedder takes from a toy's output.
struct ToyOutput {
  bool pooled = false;
  bool normalize = false;
  embedding::PoolingMode pooling = embedding::PoolingMode::kMean;
  std::size_t dimension = 0;
  std::size_t position = 0;
};
inline std::vector<embedding::BoundOutput> toy_output(const ToyOutput& given = {}) {
  const embedding::DenseOutput::Parameters parameters{.pooling = given.pooling, .normalize = given.normalize};
  return {{.output = std::make_shared<const embedding::DenseOutput>(parameters),
           .end = {.position = given.position, .pooled = given.pooled, .dimension = given.dimension}}};
}

struct ToyScript {
  core::ElementType id_type = core::ElementType::kI64;
  bool pooled = false;  // vectors instead of token vectors
  bool wants_token_types = false;
  unsigned requests = 1;
  std::size_t dimension = kToyDimension;
  // Shapes that it says to be compiled for; it takes any.
  std::vector<std::size_t> static_lengths{};
  std::size_t static_rows = 0;
  bool leaves_padding_out = false;
  std::size_t kept_shapes = 0;
  // Sees what each run may take, on the thread that asks for it.
  std::function<void(const core::RunOptions& options)> on_ask{};
  // Called at the start of every run, from the thread that runs (which is another one within limits); an error is the
  // run's.
  std::function<core::Status(const core::TensorView& ids)> on_run{};
  // Sees the mask of each run.
  std::function<void(const core::TensorView& mask)> on_mask{};
  // May spoil the numbers of a text whose first word is `first_word`.
  std::function<float(std::int64_t first_word, float value)> spoil{};
  // May spoil what is declared.
  std::function<void(Infos& inputs, Infos& outputs)> declare{};
};

class ToyEncoder : public core::Executable {
 public:
  explicit ToyEncoder(ToyScript given) : script_(std::make_shared<const ToyScript>(std::move(given))) {
    const ToyScript& script = *script_;
    const core::Shape shape{core::kDynamic, core::kDynamic};
    inputs_.push_back({"input_ids", script.id_type, shape});
    inputs_.push_back({"attention_mask", script.id_type, shape});
    if (script.wants_token_types) inputs_.push_back({"token_type_ids", script.id_type, shape});
    const auto dimension = static_cast<std::int64_t>(script.dimension);
    outputs_.push_back({"vectors", core::ElementType::kF32,
                        script.pooled ? core::Shape{core::kDynamic, dimension}
                                      : core::Shape{core::kDynamic, core::kDynamic, dimension}});
    if (script.declare) script.declare(inputs_, outputs_);
    active_.backend = "toy";
    active_.device = "CPU";
    active_.requests = script.requests;
    active_.static_lengths = script.static_lengths;
    active_.static_rows = script.static_rows;
    active_.leaves_padding_out = script.leaves_padding_out;
    active_.kept_shapes = script.kept_shapes;
  }

  std::span<const core::TensorInfo> inputs() const override { return inputs_; }
  std::span<const core::TensorInfo> outputs() const override { return outputs_; }
  const core::ActiveConfig& active() const override { return active_; }

 private:
  core::Status run(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                   const core::RunOptions& options) override {
    if (script_->on_ask) script_->on_ask(options);
    return options.is_bounded() ? run_apart(inputs, outputs[0], options) : compute(*script_, inputs, outputs[0]);
  }

  // As backends do it: on another thread and in memory of its own, so that it can be given up.
  core::Status run_apart(std::span<const core::TensorView> inputs, core::OutputTensor& output,
                         const core::RunOptions& options) const {
    struct Own {
      std::vector<std::vector<std::int64_t>> memory;
      std::vector<core::TensorView> inputs;
      core::OutputTensor output;
    };
    const auto own = std::make_shared<Own>();
    for (const core::TensorView& input : inputs) {
      LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(input.type, input.shape));
      auto& memory = own->memory.emplace_back(bytes / sizeof(std::int64_t) + 1);
      std::memcpy(memory.data(), input.data, bytes);
      own->inputs.push_back({memory.data(), input.type, input.shape, std::nullopt});
    }
    LB_RETURN_IF_ERROR(core::call_until(
        options, "toy:CPU", [script = script_, own] { return compute(*script, own->inputs, own->output); }));
    const core::TensorView& view = own->output.view();
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(view.type, view.shape));
    LB_ASSIGN_OR_RETURN(void* const data, output.prepare(view.type, view.shape));
    std::memcpy(data, view.data, bytes);
    return {};
  }

  static core::Status compute(const ToyScript& script, std::span<const core::TensorView> inputs,
                              core::OutputTensor& output) {
    if (script.on_mask) script.on_mask(inputs[1]);
    if (script.on_run) LB_RETURN_IF_ERROR(script.on_run(inputs[0]));
    const auto rows = static_cast<std::size_t>(inputs[0].shape[0]);
    const auto width = static_cast<std::size_t>(inputs[0].shape[1]);
    const auto dimension = static_cast<std::int64_t>(script.dimension);
    const core::Shape shape = script.pooled ? core::Shape{inputs[0].shape[0], dimension}
                                            : core::Shape{inputs[0].shape[0], inputs[0].shape[1], dimension};
    LB_ASSIGN_OR_RETURN(void* const data, output.prepare(core::ElementType::kF32, shape));
    auto* to = static_cast<float*>(data);
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<std::int32_t> ids;
      const std::int64_t first_word = width > 1 ? value(inputs[0], row * width + 1) : 0;
      const auto spoiled = [&](float given) { return script.spoil ? script.spoil(first_word, given) : given; };
      for (std::size_t t = 0; t < width; ++t) {
        const std::int64_t id = value(inputs[0], row * width + t);
        if (script.wants_token_types && value(inputs[2], row * width + t) != 0) {
          return core::Status(core::StatusCode::kInternal, "token_type_ids are not all 0");
        }
        const std::int64_t kept = value(inputs[1], row * width + t);
        if (kept == 1) ids.push_back(static_cast<std::int32_t>(id));
        if (kept == 0 && id != 0) return core::Status(core::StatusCode::kInternal, "padding is not 0");
        for (std::size_t d = 0; d < script.dimension && !script.pooled; ++d) {
          // What padding gives must not reach any vector.
          *to++ = kept == 1 ? spoiled(toy_state(id, t, d)) : 1e9F;
        }
      }
      if (script.pooled) {
        for (const float component : toy_vector(ids, script.dimension))
          *to++ = spoiled(component);
      }
    }
    return {};
  }

  static std::int64_t value(const core::TensorView& tensor, std::size_t at) {
    return tensor.type == core::ElementType::kI64 ? static_cast<const std::int64_t*>(tensor.data)[at]
                                                  : static_cast<const std::int32_t*>(tensor.data)[at];
  }

  const std::shared_ptr<const ToyScript> script_;  // shared with runs that were given up
  Infos inputs_;
  Infos outputs_;
  core::ActiveConfig active_;
};

// With a standby, for when the model's device fails.
inline std::shared_ptr<core::PlacedModel> toy_model(const ToyScript& script,
                                                    const std::optional<ToyScript>& standby = std::nullopt) {
  const core::Registry none;
  const auto candidate_of = [](std::string name) {
    core::Placement::Candidate candidate;
    candidate.device = core::Device{.backend = "toy",
                                    .name = std::move(name),
                                    .kind = core::DeviceKind::kCpu,
                                    .full_name = "toy",
                                    .runtime_version = "1.0",
                                    .metadata = {}};
    return candidate;
  };
  std::vector<core::Placement::Candidate> candidates{candidate_of("CPU")};
  if (standby) candidates.push_back(candidate_of("STANDBY"));
  auto placed = core::PlacedModel::place("the toy model", *core::Placement::parse("auto", none), std::move(candidates),
                                         [script, standby](const core::Device& device) {
                                           return core::Result<std::unique_ptr<core::Executable>>(
                                               std::make_unique<ToyEncoder>(device.name == "CPU" ? script : *standby));
                                         },
                                         /*strict=*/!standby, {});
  return *std::move(placed);
}

// A WordPiece tokenizer that knows the letters a to z, alone and within words, and "word": [CLS] is 2, [SEP] 3.
inline std::string toy_tokenizer_json() {
  std::string vocabulary = R"("[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"word":4)";
  int id = 5;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    vocabulary += std::string(",\"") + letter + "\":" + std::to_string(id++);
    vocabulary += std::string(",\"##") + letter + "\":" + std::to_string(id++);
  }
  std::string added;
  for (const auto& [token, number] : {std::pair{"[PAD]", 0}, {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3}}) {
    added += (added.empty() ? "" : ",") + std::string(R"({"id":)") + std::to_string(number) + R"(,"content":")" +
             token + R"(","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true})";
  }
  return R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":[)" + added +
         R"(],"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,)"
         R"("lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"TemplateProcessing",)"
         R"("single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},)"
         R"({"SpecialToken":{"id":"[SEP]","type_id":0}}],"pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},)"
         R"({"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}},)"
         R"({"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"[SEP]","type_id":1}}],)"
         R"("special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]},)"
         R"("[SEP]":{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}},"decoder":{"type":"WordPiece","prefix":"##",)"
         R"("cleanup":true},"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",)"
         R"("max_input_chars_per_word":100,"vocab":{)" +
         vocabulary + "}}}";
}

inline embedding::Tokenizer toy_tokenizer() {
  return *embedding::Tokenizer::from_json(toy_tokenizer_json(), "the toy tokenizer");
}

}  // namespace latebind::test
