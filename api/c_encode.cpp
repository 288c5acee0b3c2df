// Encoding of the C interface: one pass over texts, ids or pairs gives the requested outputs.
#include "api/c_encode.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/c_support.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "core/threads/background_work.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/outputs/pooling.h"
#include "embedding/outputs/score.h"
#include "embedding/outputs/vector_shape.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace latebind::api {

namespace {

std::optional<std::string_view> text_or_nothing(const char* text) {
  return text != nullptr ? std::optional<std::string_view>(text) : std::nullopt;
}

// Writes the text to `view`. `noun` and `index` name it in messages.
core::Status read_text(const lb_text& text, std::string_view noun, std::size_t index, std::string_view what,
                       std::string_view& view) {
  if (text.data == nullptr && text.size > 0) return misuse(fmt::format("{}: {} {} is NULL", what, noun, index));
  if (text.size > 0) view = {text.data, text.size};
  return {};
}

core::Result<std::vector<embedding::TextPair>> read_pairs(const lb_text_pair* pairs, std::size_t count,
                                                          std::string_view what) {
  LB_RETURN_IF_ERROR(check_texts(pairs, count, what));
  std::vector<embedding::TextPair> views(count);
  for (std::size_t i = 0; i < count; ++i) {
    LB_RETURN_IF_ERROR(read_text(pairs[i].first, "pair", i, what, views[i].first));
    LB_RETURN_IF_ERROR(read_text(pairs[i].second, "pair", i, what, views[i].second));
  }
  return views;
}

core::Result<std::vector<embedding::Ids>> read_ids(const lb_token_ids* texts, std::size_t count,
                                                   std::string_view what) {
  LB_RETURN_IF_ERROR(check_texts(texts, count, what));
  std::vector<embedding::Ids> views(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (texts[i].ids == nullptr && texts[i].count > 0) return misuse(fmt::format("{}: text {} is NULL", what, i));
    if (texts[i].count > 0) views[i] = {texts[i].ids, texts[i].count};
  }
  return views;
}

std::string_view name_of(const embedding::BoundOutput& bound) {
  return bound.output->kind().name;
}

core::Result<RequestedOutput> find_one(const embedding::Encoder& encoder, const lb_output_request& request,
                                       const EncodeCall& call, std::string_view what) {
  const auto outputs = encoder.outputs();
  const auto found =
      request.name == nullptr ? outputs.begin() : std::ranges::find(outputs, std::string_view(request.name), name_of);
  if (found == outputs.end()) {
    return misuse(fmt::format("{}: the encoder was not opened with the output {}; it was opened with: {}", what,
                              core::quoted(request.name), fmt::join(core::words_of(outputs, name_of), ", ")));
  }
  const auto form = form_of(*found->output);
  if (form == LB_FORM_SCORES && (call.texts.dimensions != 0 || call.texts.normalize)) {
    return misuse(fmt::format("{}: scores have neither dimensions nor a length", what));
  }
  const bool has_rows = form == LB_FORM_DENSE || form == LB_FORM_SCORES;
  if (request.rows != nullptr && !has_rows) {
    return misuse(
        fmt::format("{}: the results of '{}' are not rows of one size, so they cannot be written to the "
                    "caller's memory; lb_output_request.rows must be NULL",
                    what, found->output->kind().name));
  }
  LB_ASSIGN_OR_RETURN(const auto shape, embedding::VectorShape::of(*found, call.texts));
  return RequestedOutput{.position = static_cast<std::size_t>(found - outputs.begin()),
                         .output = found->output.get(),
                         .dimension = found->dimension(),
                         .dimensions = form == LB_FORM_SPARSE ? found->dimension() : shape.dimensions(),
                         .request = request};
}

}  // namespace

core::Status check_texts(const void* texts, std::size_t count, std::string_view what) {
  if (texts == nullptr && count > 0) return misuse(fmt::format("{}: NULL was given", what));
  if (count <= kTextsMax) return {};
  return misuse(fmt::format("{}: {} texts; at most {} are allowed in one call", what, count, kTextsMax));
}

core::Result<std::vector<std::string_view>> read_texts(const lb_text* texts, std::size_t count, std::string_view what) {
  LB_RETURN_IF_ERROR(check_texts(texts, count, what));
  std::vector<std::string_view> views(count);
  for (std::size_t i = 0; i < count; ++i) {
    LB_RETURN_IF_ERROR(read_text(texts[i], "text", i, what, views[i]));
  }
  return views;
}

core::Result<embedding::TextRole> read_role(std::int32_t role, std::string_view field) {
  switch (role) {
    case LB_ROLE_UNSPECIFIED:
      return embedding::TextRole::kUnspecified;
    case LB_ROLE_QUERY:
      return embedding::TextRole::kQuery;
    case LB_ROLE_DOCUMENT:
      return embedding::TextRole::kDocument;
    default:
      return misuse(fmt::format("{} is {}; it must be LB_ROLE_UNSPECIFIED, LB_ROLE_QUERY or LB_ROLE_DOCUMENT (0 to 2)",
                                field, role));
  }
}

core::Result<EncodeCall> read_encode_options(const lb_encode_options* given) {
  LB_ASSIGN_OR_RETURN(const lb_encode_options read, read_struct(given, "lb_encode_options"));
  LB_RETURN_IF_ERROR(check_reserved(read.reserved_, "lb_encode_options", "call", 0));
  LB_ASSIGN_OR_RETURN(const embedding::TextRole role, read_role(read.role, "lb_encode_options.role"));
  if (read.outputs == nullptr && read.output_count > 0) {
    return misuse("lb_encode_options: output_count is set and outputs is NULL");
  }
  return EncodeCall{.texts = {.dimensions = read.dimensions,
                              .max_tokens = read.max_tokens,
                              .refuse_longer = read.refuse_longer != 0,
                              .normalize = read.normalize != 0,
                              .role = role,
                              .prompt = {.text = text_or_nothing(read.prompt),
                                         .name = text_or_nothing(read.prompt_name),
                                         .task = text_or_nothing(read.task)}},
                    .alone = read.alone != 0,
                    .raw_scores = read.raw_scores != 0,
                    .outputs = {read.outputs, read.output_count}};
}

core::Result<std::vector<RequestedOutput>> find_requested(const embedding::Encoder& encoder, const EncodeCall& call,
                                                          std::string_view what) {
  std::vector<RequestedOutput> all;
  for (const embedding::BoundOutput& bound : encoder.outputs()) {
    if (!call.outputs.empty()) break;
    // The names are literals.
    LB_ASSIGN_OR_RETURN(all.emplace_back(),
                        find_one(encoder, {bound.output->kind().name.data(), nullptr, 0}, call, what));
  }
  for (const lb_output_request& request : call.outputs) {
    LB_ASSIGN_OR_RETURN(const RequestedOutput one, find_one(encoder, request, call, what));
    if (std::ranges::find(all, one.position, &RequestedOutput::position) != all.end()) {
      return misuse(fmt::format("{}: the output '{}' was requested twice", what, one.output->kind().name));
    }
    all.push_back(one);
  }
  return all;
}

bool must_normalize(const embedding::Output& output, const EncodeCall& call) {
  if (!call.texts.normalize || output.kind().form != embedding::ResultForm::kRaggedRows) return false;
  const auto* const multi_vector = embedding::as<embedding::MultiVectorOutput>(output);
  return multi_vector == nullptr || !multi_vector->normalizes_tokens();
}

void normalize_rows(std::span<float> numbers, std::size_t dimension) {
  for (std::size_t at = 0; at < numbers.size(); at += dimension)
    embedding::normalize(numbers.subspan(at, dimension));
}

core::Status check_input(const lb_encoder& encoder, const embedding::Input& input, std::string_view what) {
  const embedding::Input& taken = encoder.model->documents().input();
  if (&taken == &input) return {};
  return misuse(fmt::format("{}: {} encodes {}s, not {}s", what, encoder.model->name(),
                            &taken == &embedding::kPairInput ? "pair" : "text",
                            &input == &embedding::kPairInput ? "pair" : "text"));
}

core::Status write_stats(const embedding::EmbedStats& stats, lb_encode_stats* out) {
  lb_encode_stats value{};
  value.texts = stats.texts;
  value.tokens = stats.tokens;
  value.padded_tokens = stats.padded_tokens;
  value.truncated_texts = stats.truncated_texts;
  value.seconds = stats.seconds;
  value.fallback_texts = stats.fallback_texts;
  return write_struct(value, out, "lb_encode_stats");
}

}  // namespace latebind::api

namespace {

// The arguments that all functions share; `function` is the name, for messages.
struct Arguments {
  std::string_view function;
  const lb_encode_options* options = nullptr;
  const lb_call_options* call = nullptr;
  lb_results** results = nullptr;
  lb_encode_stats* stats = nullptr;
};

// The results that a call fills, and where the encoder writes them.
class Target {
 public:
  Target(std::vector<api::RequestedOutput> requested, std::size_t count, const api::EncodeCall& call)
      : requested_(std::move(requested)), call_(call) {
    results_->count = count;
    results_->parts.resize(requested_.size());
    collected_.resize(requested_.size());
    sinks_.reserve(requested_.size());
    for (std::size_t i = 0; i < requested_.size(); ++i)
      sinks_.push_back(sink_of(i));
  }

  [[nodiscard]] std::span<const embedding::OutputSink> sinks() const { return sinks_; }

  // Allocates the token counts of the results, and returns them.
  std::span<std::uint32_t> make_token_counts() {
    results_->own_token_counts.resize(results_->count);
    results_->token_counts = results_->own_token_counts;
    return results_->own_token_counts;
  }

  // Completes the results once the encoder has filled the sinks.
  std::unique_ptr<lb_results> finish() {
    for (std::size_t i = 0; i < requested_.size(); ++i)
      finish(i);
    return std::move(results_);
  }

 private:
  // The places from which results that are not rows are collected.
  struct Collected {
    std::vector<embedding::SparseVector> sparse{};
    embedding::TokenSink ragged{};
  };

  embedding::OutputSink sink_of(std::size_t at) {
    const api::RequestedOutput& wanted = requested_[at];
    lb_results::Part& part = results_->parts[at];
    part.name = wanted.output->kind().name;
    part.form = api::form_of(*wanted.output);
    part.dimension = wanted.dimensions;
    embedding::OutputSink sink{.output = wanted.position};
    if (part.form == LB_FORM_SPARSE) {
      collected_[at].sparse.resize(results_->count);
      sink.sparse = collected_[at].sparse;
    } else if (part.form == LB_FORM_RAGGED) {
      part.own_ragged.dimension = wanted.dimensions;
      part.own_ragged.begins.reserve(results_->count + 1);
      collected_[at].ragged = embedding::collect_into(part.own_ragged);
      sink.ragged = &collected_[at].ragged;
    } else if (wanted.request.rows != nullptr) {
      sink.rows = {wanted.request.rows, wanted.request.capacity};
    } else {
      const std::size_t size = results_->count * wanted.dimensions;
      part.own_rows = std::make_unique_for_overwrite<float[]>(size);
      sink.rows = {part.own_rows.get(), size};
    }
    return sink;
  }

  void finish(std::size_t at) {
    lb_results::Part& part = results_->parts[at];
    if (part.form == LB_FORM_SPARSE) return api::set_sparse(part, collected_[at].sparse);
    if (part.form == LB_FORM_RAGGED) {
      embedding::RaggedRows& rows = part.own_ragged;
      if (api::must_normalize(*requested_[at].output, call_)) api::normalize_rows(rows.numbers, rows.dimension);
      part.begins = rows.begins.data();
      part.numbers = rows.numbers.data();
      return;
    }
    const std::span<float> rows = sinks_[at].rows;
    part.numbers = rows.data();
    const auto* const score = embedding::as<embedding::ScoreOutput>(*requested_[at].output);
    if (score != nullptr && !call_.raw_scores) score->activate(rows.first(results_->count * part.dimension));
  }

  std::unique_ptr<lb_results> results_ = std::make_unique<lb_results>();
  const std::vector<api::RequestedOutput> requested_;
  const api::EncodeCall& call_;
  std::vector<Collected> collected_;
  std::vector<embedding::OutputSink> sinks_;
};

core::Status check_encoder(const lb_encoder* encoder, const embedding::Input& input, const Arguments& given) {
  if (given.results != nullptr) *given.results = nullptr;
  if (encoder == nullptr) return api::misuse(fmt::format("{}: NULL was given", given.function));
  LB_RETURN_IF_ERROR(api::check_made_here(encoder->made, "encoder"));
  LB_RETURN_IF_ERROR(core::check_not_ending());
  return api::check_input(*encoder, input, given.function);
}

core::Status encode(const lb_encoder& encoder, const embedding::InputList& inputs, std::size_t count,
                    const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const api::EncodeCall asked, api::read_encode_options(given.options));
  LB_ASSIGN_OR_RETURN(const embedding::Encoder* const route, encoder.model->route_for(asked.texts.role));
  LB_ASSIGN_OR_RETURN(auto requested, api::find_requested(*route, asked, given.function));
  const bool has_memory = std::ranges::all_of(
      requested, [&](const api::RequestedOutput& one) { return one.request.rows != nullptr || count == 0; });
  if (given.results == nullptr && !has_memory) {
    return api::misuse(fmt::format("{}: results is NULL, and the request of an output has no rows", given.function));
  }
  LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(given.call));
  Target target(std::move(requested), count, asked);
  std::shared_ptr<const core::Attestation> answered_by;
  embedding::EmbedOptions typed{.texts = asked.texts, .alone = asked.alone, .limits = of_call.limits};
  if (given.results != nullptr) typed.token_counts = target.make_token_counts();
  if (of_call.answered_by != nullptr) typed.answered_by = &answered_by;
  LB_ASSIGN_OR_RETURN(const embedding::EmbedStats made, route->encode(inputs, target.sinks(), typed));
  auto results = target.finish();
  if (given.stats != nullptr) LB_RETURN_IF_ERROR(api::write_stats(made, given.stats));
  if (of_call.answered_by != nullptr) {
    LB_RETURN_IF_ERROR(api::give_attestation(std::move(answered_by), of_call.answered_by));
  }
  if (given.results != nullptr) *given.results = results.release();
  return {};
}

}  // namespace

lb_code lb_encoder_encode(const lb_encoder* encoder, const lb_text* texts, size_t count,
                          const lb_encode_options* options, const lb_call_options* call, lb_results** results,
                          lb_encode_stats* stats) {
  return api::guarded([&]() -> core::Status {
    const Arguments given{"lb_encoder_encode", options, call, results, stats};
    LB_RETURN_IF_ERROR(check_encoder(encoder, embedding::kTextInput, given));
    LB_ASSIGN_OR_RETURN(const auto views, api::read_texts(texts, count, given.function));
    return encode(*encoder, std::span<const std::string_view>(views), count, given);
  });
}

lb_code lb_encoder_encode_ids(const lb_encoder* encoder, const lb_token_ids* texts, size_t count,
                              const lb_encode_options* options, const lb_call_options* call, lb_results** results,
                              lb_encode_stats* stats) {
  return api::guarded([&]() -> core::Status {
    const Arguments given{"lb_encoder_encode_ids", options, call, results, stats};
    LB_RETURN_IF_ERROR(check_encoder(encoder, embedding::kTextInput, given));
    LB_ASSIGN_OR_RETURN(const auto views, api::read_ids(texts, count, given.function));
    return encode(*encoder, std::span<const embedding::Ids>(views), count, given);
  });
}

lb_code lb_encoder_encode_pairs(const lb_encoder* encoder, const lb_text_pair* pairs, size_t count,
                                const lb_encode_options* options, const lb_call_options* call, lb_results** results,
                                lb_encode_stats* stats) {
  return api::guarded([&]() -> core::Status {
    const Arguments given{"lb_encoder_encode_pairs", options, call, results, stats};
    LB_RETURN_IF_ERROR(check_encoder(encoder, embedding::kPairInput, given));
    LB_ASSIGN_OR_RETURN(const auto views, api::read_pairs(pairs, count, given.function));
    return encode(*encoder, std::span<const embedding::TextPair>(views), count, given);
  });
}
