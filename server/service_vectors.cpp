// Computes the outputs of texts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/text/utf8.h"
#include "embedding/outputs/token_vectors.h"
#include "server/likely_tokens.h"
#include "server/service.h"
#include "server/service_parts.h"

namespace latebind::server {

using core::Status;
using core::StatusCode;

namespace {

// The memory per number of a vector until its answer is sent: as a float and as text.
constexpr std::uint64_t kNumberBytes = sizeof(float) + 12;
// The least memory of a sparse vector in an answer.
constexpr std::uint64_t kSparseBytes = 64;

// The most vectors of tokens that one answer has.
std::uint64_t token_vectors_max(const embedding::BoundOutput& output) {
  return kTokenVectorBytesMax / (output.dimension() * sizeof(float));
}

std::uint64_t count_tokens(const VectorCall& call, std::size_t prompt_bytes) {
  std::uint64_t tokens = 0;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&call.texts)) {
    for (const std::string& text : *texts)
      tokens += prompt_bytes + text.size() + 2;
  } else {
    for (const auto& ids : std::get<std::vector<std::vector<std::int32_t>>>(call.texts))
      tokens += ids.size();
  }
  return tokens;
}

// The most memory that the results of one output and their part of the answer take. For token vectors, an estimate
// before tokenization.
std::uint64_t answer_bytes(const VectorCall& call, const embedding::BoundOutput& output,
                           const embedding::Encoder& encoder, std::size_t count, std::size_t prompt_bytes) {
  // The size of sparse vectors is only known once they are computed: see finish().
  if (output.form() == embedding::ResultForm::kSparseRow) return count * kSparseBytes;
  const std::uint64_t dimension = call.dimensions > 0 ? call.dimensions : output.dimension();
  std::uint64_t vectors = count;
  if (output.form() == embedding::ResultForm::kRaggedRows) {
    vectors = std::min<std::uint64_t>(
        {count_tokens(call, prompt_bytes), count * encoder.max_tokens(), token_vectors_max(output)});
  }
  return vectors * dimension * kNumberBytes;
}

std::uint64_t likely_tokens_of(const VectorCall& call, const embedding::Encoder& encoder, std::size_t prompt_bytes) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&call.texts))
    return likely_tokens(*texts, prompt_bytes, encoder.max_tokens());
  std::uint64_t tokens = 0;
  for (const auto& ids : std::get<std::vector<std::vector<std::int32_t>>>(call.texts))
    tokens += std::min(encoder.max_tokens(), ids.size());
  return tokens;
}

// The first wanted output that the model does not serve.
Refusal not_given(const ServedModel& model, std::span<const std::string> outputs) {
  const auto missing = std::ranges::find_if(outputs, [&](const std::string& output) { return !model.gives(output); });
  if (missing == outputs.end()) {
    return {.kind = RefusalKind::kUnsupported,
            .message = fmt::format("{} does not give {} in one pass: ask for them one by one", model.name,
                                   fmt::join(outputs, " and ")),
            .param = "outputs"};
  }
  const embedding::OutputKind* const kind = embedding::find_output_kind(*missing);
  if (model.may_give_token_vectors() && kind != nullptr && kind->input == nullptr) {
    return {.kind = RefusalKind::kUnsupported,
            .message =
                fmt::format("{} of {} are not served: start the server with --token-vectors", kind->noun, model.name),
            .param = {}};
  }
  const std::string_view noun = kind != nullptr ? kind->noun : std::string_view(*missing);
  return {.kind = RefusalKind::kUnsupported,
          .message = fmt::format("{} does not make {}; its outputs are: {}", model.name, noun,
                                 fmt::join(model.outputs(), ", ")),
          .param = "model"};
}

}  // namespace

std::string TextNames::operator()(std::uint64_t position) const {
  if (position >= count_before) return fmt::format("{}[{}]", list, position - count_before);
  return count_before == 1 ? std::string(before) : fmt::format("{}[{}]", before, position);
}

embedding::PromptChoice prompt_choice(const std::optional<std::string>& name) {
  if (!name) return {};
  if (name->empty()) return {.text = ""};
  return {.name = *name};
}

Refusal refusal_of_prompt(const ServedModel& model, const Status& status) {
  return {.kind = status.code() == StatusCode::kUnsupported ? RefusalKind::kUnsupported : RefusalKind::kBadRequest,
          .message = fmt::format("{}: {}", model.name, status.message()),
          .param = "prompt_name"};
}

std::uint64_t characters_of(std::span<const std::string> texts) {
  std::uint64_t count = 0;
  for (const std::string& text : texts) {
    // Counts every byte except those that continue a character.
    count += static_cast<std::uint64_t>(
        std::ranges::count_if(text, [](char byte) { return !core::is_utf8_continuation(byte); }));
  }
  return count;
}

Outcome<const embedding::Encoder*> Service::encoder_for(const ServedModel& model, const VectorCall& call) const {
  const embedding::Embedder* const network = model.encoder_of(call.outputs);
  if (network == nullptr) return not_given(model, call.outputs);
  for (const std::string& output : call.outputs) {
    const embedding::OutputKind& kind = *embedding::find_output_kind(output);
    if (kind.input == nullptr || kind.input == &embedding::kTextInput) continue;
    return Refusal{
        .kind = RefusalKind::kUnsupported,
        .message = fmt::format("{} gives {} for pairs of texts: /predict and /rerank have them", model.name, kind.noun),
        .param = "outputs"};
  }
  const auto route = network->route_for(call.role);
  if (!route.ok()) {
    return Refusal{.kind = RefusalKind::kBadRequest, .message = std::string(route.status().message()), .param = "role"};
  }
  return *route;
}

namespace {

std::optional<Refusal> check_dimensions(const ServedModel& model, const VectorCall& call,
                                        std::span<const embedding::BoundOutput> outputs, bool allow) {
  if (call.dimensions == 0 || allow) return std::nullopt;
  for (const embedding::BoundOutput& output : outputs) {
    const auto* const dense = embedding::as<embedding::DenseOutput>(*output.output);
    if (dense == nullptr || call.dimensions >= output.dimension() || !dense->matryoshka_dimensions().empty()) continue;
    return Refusal{.kind = RefusalKind::kUnsupported,
                   .message = fmt::format("{} was not trained for fewer dimensions than {}; start the server with "
                                          "--allow-dimensions to cut its vectors anyway",
                                          model.name, output.dimension()),
                   .param = "dimensions"};
  }
  return std::nullopt;
}

}  // namespace

void Service::embed(const ExchangePtr& exchange, VectorCall call, std::function<void(Outcome<Vectors>)> done) {
  const std::vector<std::string_view> wanted(call.outputs.begin(), call.outputs.end());
  const auto found = find_giving(call.model, wanted);
  auto* const texts = std::get_if<std::vector<std::string>>(&call.texts);
  const auto* const ids = std::get_if<std::vector<std::vector<std::int32_t>>>(&call.texts);
  const std::size_t read = texts != nullptr ? texts->size() : ids->size();
  const std::size_t count = call.too_many > 0 ? call.too_many : read;
  exchange->note([&](RequestRecord& record) {
    record.is_embedding = true;
    record.texts = count;
    if (texts != nullptr) record.characters = characters_of(*texts);
    if (const auto* model = std::get_if<const ServedModel*>(&found)) record.model = (*model)->name;
  });
  if (const auto* refusal = std::get_if<Refusal>(&found)) return done(*refusal);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  auto chosen = encoder_for(model, call);
  if (auto* refusal = std::get_if<Refusal>(&chosen)) return done(std::move(*refusal));
  const embedding::Encoder& encoder = *std::get<const embedding::Encoder*>(chosen);
  if (count > limits_.texts_max) {
    return done(Refusal{.kind = RefusalKind::kTooManyTexts,
                        .message = fmt::format("{} texts in one request; at most {}", count, limits_.texts_max),
                        .param = std::string(call.names.list)});
  }
  const auto positions = encoder.find_outputs(call.outputs);
  if (!positions.ok()) return done(refusal_of(positions.status()));
  std::vector<embedding::BoundOutput> outputs;
  for (const std::size_t position : *positions)
    outputs.push_back(encoder.outputs()[position]);
  if (auto refusal = check_dimensions(model, call, outputs, limits_.allow_dimensions)) return done(*std::move(refusal));
  embedding::PromptChoice prompt =
      call.purpose.empty() ? prompt_choice(call.prompt_name) : encoder.prompts().for_purpose(call.purpose);
  if (call.task) prompt.task = *call.task;
  if (const auto task = encoder.prompts().tasks.choose(prompt.task, call.role); !task.ok()) {
    Refusal refusal = refusal_of_prompt(model, task.status());
    refusal.param = "task";
    return done(std::move(refusal));
  }
  if (texts == nullptr && call.prompt_name && !call.prompt_name->empty()) {
    return done(Refusal{.kind = RefusalKind::kBadRequest,
                        .message = "a prompt can be put before texts, not before token ids",
                        .param = "prompt_name"});
  }
  std::size_t prompt_bytes = 0;
  if (texts != nullptr) {
    const auto chosen_prompt = encoder.prompts().choose(prompt, call.role);
    if (!chosen_prompt.ok()) return done(refusal_of_prompt(model, chosen_prompt.status()));
    prompt_bytes = chosen_prompt->size();
  }
  embedding::TaskOptions options;
  options.outputs = std::move(call.outputs);
  options.texts.role = call.role;
  options.texts.dimensions = call.dimensions;
  options.texts.refuse_longer = !call.truncate.value_or(limits_.auto_truncate);
  options.texts.keep_end = call.keep_end;
  options.texts.normalize = call.normalize;
  options.texts.prompt.task = prompt.task;
  if (texts != nullptr) options.texts.prompt = prompt;
  options.queue_tokens_max = limits_.queue_tokens_max;
  options.name_of = call.names;
  std::uint64_t bytes = 0;
  for (const embedding::BoundOutput& output : outputs) {
    bytes += answer_bytes(call, output, encoder, count, prompt_bytes);
    // Sparse vectors have no length.
    if (output.form() == embedding::ResultForm::kSparseRow) options.texts.normalize = false;
    if (output.form() != embedding::ResultForm::kRaggedRows) continue;
    const std::uint64_t most = token_vectors_max(output);
    options.tokens_max = options.tokens_max == 0 ? most : std::min(options.tokens_max, most);
  }
  if (auto refusal = reserve(*exchange, encoder, likely_tokens_of(call, encoder, prompt_bytes), bytes))
    return done(*std::move(refusal));

  compute(exchange, model, std::move(done), [&](embedding::EmbedTask::Done over) {
    if (texts != nullptr) {
      const std::vector<std::string_view> views(texts->begin(), texts->end());
      return embedding::EmbedTask::start(encoder, std::span(views), options, std::move(over));
    }
    const std::vector<embedding::Ids> views(ids->begin(), ids->end());
    return embedding::EmbedTask::start(encoder, std::span(views), options, std::move(over));
  });
}

}  // namespace latebind::server
