// The cross-encoder of the C interface.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_encoder.h"
#include "core/threads/background_work.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace {

constexpr std::string_view kScore = "lb_cross_encoder_score";
constexpr std::string_view kCrossEncoder = "cross-encoder";

struct ScoreCall {
  api::TextCall texts;
  bool raw = false;
};

core::Result<ScoreCall> read_score_options(const lb_score_options* given) {
  LB_ASSIGN_OR_RETURN(const lb_score_options read, api::read_struct(given, "lb_score_options"));
  LB_RETURN_IF_ERROR(api::check_reserved(read.reserved_, "lb_score_options", "call", 0));
  return ScoreCall{.texts = {.texts = {.max_tokens = read.max_tokens, .refuse_longer = read.refuse_longer != 0},
                             .alone = read.alone != 0,
                             .token_counts = read.token_counts},
                   .raw = read.raw != 0};
}

core::Result<std::vector<embedding::TextPair>> read_pairs(const lb_text_pair* pairs, std::size_t count) {
  LB_RETURN_IF_ERROR(api::check_texts(pairs, count, kScore));
  std::vector<embedding::TextPair> views(count);
  for (std::size_t i = 0; i < count; ++i) {
    LB_RETURN_IF_ERROR(api::read_text(pairs[i].first, "pair", i, kScore, views[i].first));
    LB_RETURN_IF_ERROR(api::read_text(pairs[i].second, "pair", i, kScore, views[i].second));
  }
  return views;
}

}  // namespace

lb_code lb_cross_encoder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                              const lb_call_options* call, lb_cross_encoder** cross_encoder) {
  return api::open_encoder(
      {"lb_cross_encoder_open", runtime, model_folder, options, call}, "score", cross_encoder,
      [](lb_cross_encoder& made, auto network) { made.model = embedding::CrossEncoder::of(std::move(network)); });
}

void lb_cross_encoder_destroy(lb_cross_encoder* cross_encoder) {
  if (cross_encoder != nullptr) api::destroy(cross_encoder, cross_encoder->made);
}

size_t lb_cross_encoder_label_count(const lb_cross_encoder* cross_encoder) {
  return cross_encoder != nullptr ? cross_encoder->model->labels().size() : 0;
}

lb_code lb_cross_encoder_label(const lb_cross_encoder* cross_encoder, size_t index, lb_text* label) {
  return api::guarded([&]() -> core::Status {
    if (cross_encoder == nullptr || label == nullptr) return api::misuse("lb_cross_encoder_label: NULL was given");
    const std::span labels(cross_encoder->model->labels());
    if (index >= labels.size()) {
      return api::misuse(fmt::format("there is no label {}; the model has {}", index, labels.size()));
    }
    *label = {labels[index].data(), labels[index].size()};
    return {};
  });
}

size_t lb_cross_encoder_max_tokens(const lb_cross_encoder* cross_encoder) {
  return cross_encoder != nullptr ? cross_encoder->model->network().max_tokens() : 0;
}

lb_code lb_cross_encoder_score(const lb_cross_encoder* cross_encoder, const lb_text_pair* pairs, size_t count,
                               const lb_score_options* options, const lb_call_options* call, float* scores,
                               size_t capacity, lb_embed_stats* stats) {
  return api::guarded([&]() -> core::Status {
    if (cross_encoder == nullptr || (count > 0 && scores == nullptr)) {
      return api::misuse(fmt::format("{}: NULL was given", kScore));
    }
    LB_RETURN_IF_ERROR(api::check_made_here(cross_encoder->made, kCrossEncoder));
    LB_RETURN_IF_ERROR(core::check_not_ending());
    LB_ASSIGN_OR_RETURN(const auto views, read_pairs(pairs, count));
    LB_ASSIGN_OR_RETURN(const ScoreCall asked, read_score_options(options));
    return api::compute_texts(asked.texts, count, call, stats, [&](const embedding::EmbedOptions& of_call) {
      return cross_encoder->model->score(views, std::span(scores, capacity), of_call, asked.raw);
    });
  });
}

lb_code lb_cross_encoder_attestation(const lb_cross_encoder* cross_encoder, lb_attestation** attestation) {
  return api::give_network_attestation("lb_cross_encoder_attestation", kCrossEncoder, cross_encoder, attestation);
}
