#include "server/protocols/kserve_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "core/text/quote.h"
#include "embedding/outputs/score.h"

namespace latebind::server::kserve {
namespace {

constexpr std::string_view kTextInput = "text";
constexpr std::string_view kPairInput = "text_pair";
constexpr std::array<std::string_view, 1> kEmbedderInputs{kTextInput};
constexpr std::array<std::string_view, 2> kScoreInputs{kTextInput, kPairInput};
constexpr std::string_view kVectorOutput = "embedding";
constexpr std::string_view kScoreOutput = "score";

Refusal bad(std::string message, std::string_view param) {
  return Refusal{.kind = RefusalKind::kBadRequest, .message = std::move(message), .param = std::string(param)};
}

// The texts of an input, and their number, which may be above the limit of the server.
struct Texts {
  std::vector<std::string> texts{};
  std::size_t count = 0;
};

Outcome<Texts> take_texts(std::variant<NamedTensor, TextTensor>& given) {
  auto* const input = std::get_if<TextTensor>(&given);
  if (input == nullptr) {
    return bad(fmt::format("the input {} must be of type BYTES", core::quoted(std::get<NamedTensor>(given).name, 100)),
               "inputs");
  }
  const core::Shape& shape = input->shape;
  if (shape.rank() < 1 || shape.rank() > 2 || (shape.rank() == 2 && shape[1] != 1) || shape[0] == 0) {
    return bad(
        fmt::format("the input {} must be [n] or [n,1] with at least one text, not {}", input->name, shape.to_string()),
        "inputs");
  }
  return Texts{.texts = std::move(input->texts), .count = static_cast<std::size_t>(shape[0])};
}

std::string_view name_of(const std::variant<NamedTensor, TextTensor>& input) {
  return std::visit([](const auto& tensor) { return std::string_view(tensor.name); }, input);
}

// Returns the parameter that the form does not have, or "".
std::string_view surplus_parameter(const InferRequest& request, bool is_embedder) {
  if (is_embedder) return request.instruct ? "instruct" : request.raw_scores ? "raw_scores" : "";
  if (!request.normalize) return "normalize";
  if (request.dimensions > 0) return "dimensions";
  if (request.prompt_name) return "prompt_name";
  if (request.task) return "task";
  return request.role != embedding::TextRole::kUnspecified ? "role" : "";
}

std::optional<Refusal> refuse_surplus(const ServedModel& model, const InferRequest& request, bool is_embedder) {
  const std::string_view name = surplus_parameter(request, is_embedder);
  if (name.empty()) return std::nullopt;
  return bad(
      fmt::format("'{}' is for {}, and {} is not one", name, is_embedder ? "cross-encoders" : "embedders", model.name),
      name);
}

// Answers with the rows of the outcome.
void answer_rows(const ExchangePtr& exchange, const ServedModel& model, const InferRequest& request,
                 std::string_view output, const Outcome<Vectors>& outcome) {
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, kserve_protocol(), *refusal);
  const auto& rows = std::get<Vectors>(outcome);
  const std::array sizes{static_cast<std::int64_t>(rows.count()), static_cast<std::int64_t>(rows.dimension())};
  const std::array outputs{AnswerTensor{.name = output,
                                        .type = core::ElementType::kF32,
                                        .shape = sizes,
                                        .data = std::as_bytes(std::span(rows.rows().numbers)),
                                        .is_binary = is_binary(request, output)}};
  answer_with(*exchange, model, request, outputs, rows.truncated_texts);
}

void infer_vectors(const ExchangePtr& exchange, const ServedModel& model, InferRequest request, Service& service) {
  if (request.inputs.size() != 1 || name_of(request.inputs.front()) != kTextInput) {
    return refuse(*exchange, kserve_protocol(),
                  bad(fmt::format("the model has one input, {} of type BYTES", kTextInput), "inputs"));
  }
  if (const auto refusal = refuse_surplus(model, request, true)) return refuse(*exchange, kserve_protocol(), *refusal);
  auto taken = take_texts(request.inputs.front());
  if (const auto* refusal = std::get_if<Refusal>(&taken)) return refuse(*exchange, kserve_protocol(), *refusal);
  auto& texts = std::get<Texts>(taken);
  VectorCall call;
  call.model = model.name;
  call.names.list = kTextInput;
  if (texts.count > service.limits().texts_max) call.too_many = texts.count;
  call.texts = std::move(texts.texts);
  call.dimensions = request.dimensions;
  call.truncate = request.truncate;
  call.normalize = request.normalize;
  call.prompt_name = std::move(request.prompt_name);
  call.task = std::move(request.task);
  call.role = request.role;
  request.inputs.clear();
  service.embed(exchange, std::move(call),
                [exchange, &model, request = std::move(request)](const Outcome<Vectors>& outcome) {
                  answer_rows(exchange, model, request, kVectorOutput, outcome);
                });
}

void infer_scores(const ExchangePtr& exchange, const ServedModel& model, InferRequest request, Service& service) {
  std::optional<Texts> first;
  std::optional<Texts> second;
  for (auto& input : request.inputs) {
    const std::string_view name = name_of(input);
    std::optional<Texts>& to = name == kPairInput ? second : first;
    if ((name != kTextInput && name != kPairInput) || to) {
      return refuse(
          *exchange, kserve_protocol(),
          bad(fmt::format("the model has the inputs {} and {} of type BYTES, each once", kTextInput, kPairInput),
              "inputs"));
    }
    auto taken = take_texts(input);
    if (const auto* refusal = std::get_if<Refusal>(&taken)) return refuse(*exchange, kserve_protocol(), *refusal);
    to = std::get<Texts>(std::move(taken));
  }
  if (!first || (second && first->count != second->count)) {
    return refuse(*exchange, kserve_protocol(),
                  bad(first ? fmt::format("{} has {} texts, and {} has {}: both must have the same number", kTextInput,
                                          first->count, kPairInput, second->count)
                            : fmt::format("the input {} is missing", kTextInput),
                      "inputs"));
  }
  if (const auto refusal = refuse_surplus(model, request, false)) return refuse(*exchange, kserve_protocol(), *refusal);
  PredictCall call;
  call.model = model.name;
  call.names.list = kTextInput;
  if (first->count > service.limits().texts_max) call.too_many = first->count;
  call.truncate = request.truncate;
  call.instruct = std::move(request.instruct);
  if (second) {
    auto& pairs = call.inputs.emplace<1>();
    for (std::size_t i = 0; i < std::min(first->texts.size(), second->texts.size()); ++i)
      pairs.push_back({std::move(first->texts[i]), std::move(second->texts[i])});
  } else {
    call.inputs = std::move(first->texts);
  }
  request.inputs.clear();
  service.predict(exchange, std::move(call),
                  [exchange, &model, request = std::move(request)](Outcome<Vectors> outcome) {
                    if (auto* const scores = std::get_if<Vectors>(&outcome); scores != nullptr && !request.raw_scores)
                      model.own<embedding::ScoreOutput>()->activate(scores->rows().numbers);
                    answer_rows(exchange, model, request, kScoreOutput, outcome);
                  });
}

constexpr TextForm kEmbedder{.inputs = kEmbedderInputs, .output = kVectorOutput, .infer = infer_vectors};
constexpr TextForm kCrossEncoder{.inputs = kScoreInputs, .output = kScoreOutput, .infer = infer_scores};

}  // namespace

const TextForm* text_form_of(const ServedModel& model) {
  if (model.gives(embedding::kDenseOutput.name)) return &kEmbedder;
  return model.gives(embedding::kScoreOutput.name) ? &kCrossEncoder : nullptr;
}

bool is_binary(const InferRequest& request, std::string_view output) {
  for (const WantedOutput& wanted : request.outputs) {
    if (wanted.name == output) return wanted.is_binary.value_or(request.is_binary);
  }
  return request.is_binary;
}

void answer_with(Exchange& exchange, const ServedModel& model, const InferRequest& request,
                 std::span<const AnswerTensor> outputs, std::uint64_t truncated_texts) {
  auto made = infer_answer(model.name, request.id, outputs, truncated_texts);
  if (const auto* refusal = std::get_if<Refusal>(&made)) return refuse(exchange, kserve_protocol(), *refusal);
  exchange.answer(std::get<HttpResponse>(std::move(made)));
}

}  // namespace latebind::server::kserve
