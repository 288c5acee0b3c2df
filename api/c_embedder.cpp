// The embedder of the C interface.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_encoder.h"
#include "core/platform/files/folders.h"
#include "core/threads/background_work.h"
#include "embedding/hub/content_check.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace latebind::api {

namespace {

std::optional<std::string_view> text_or_nothing(const char* text) {
  return text != nullptr ? std::optional<std::string_view>(text) : std::nullopt;
}

core::Result<embedding::TextRole> read_role(int32_t role) {
  switch (role) {
    case LB_ROLE_UNSAID:
      return embedding::TextRole::kUnspecified;
    case LB_ROLE_QUERY:
      return embedding::TextRole::kQuery;
    case LB_ROLE_DOCUMENT:
      return embedding::TextRole::kDocument;
    default:
      return misuse(fmt::format(
          "lb_embed_options.role is {}; it must be LB_ROLE_UNSAID, LB_ROLE_QUERY or LB_ROLE_DOCUMENT (0 to 2)", role));
  }
}

}  // namespace

core::Result<TextCall> read_embed_options(const lb_embed_options* given) {
  LB_ASSIGN_OR_RETURN(const lb_embed_options read, read_struct(given, "lb_embed_options"));
  LB_ASSIGN_OR_RETURN(const embedding::TextRole role, read_role(read.role));
  return TextCall{
      .texts = {.dimensions = read.dimensions,
                .max_tokens = read.max_tokens,
                .refuse_longer = read.refuse_longer != 0,
                .normalize = read.normalize != 0,
                .role = role,
                .prompt = {.text = text_or_nothing(read.prompt), .name = text_or_nothing(read.prompt_name)}},
      .alone = read.alone != 0,
      .token_counts = read.token_counts};
}

core::Status check_texts(const void* texts, std::size_t count, std::string_view what) {
  if (texts == nullptr && count > 0) return misuse(fmt::format("{}: NULL was given", what));
  if (count <= kTextsMax) return {};
  return misuse(fmt::format("{}: {} texts; at most {} are allowed in one call", what, count, kTextsMax));
}

core::Status read_text(const lb_text& text, std::string_view noun, std::size_t index, std::string_view what,
                       std::string_view& view) {
  if (text.data == nullptr && text.size > 0) return misuse(fmt::format("{}: {} {} is NULL", what, noun, index));
  if (text.size > 0) view = {text.data, text.size};
  return {};
}

core::Result<std::vector<std::string_view>> read_texts(const lb_text* texts, std::size_t count, std::string_view what) {
  LB_RETURN_IF_ERROR(check_texts(texts, count, what));
  std::vector<std::string_view> views(count);
  for (std::size_t i = 0; i < count; ++i) {
    LB_RETURN_IF_ERROR(read_text(texts[i], "text", i, what, views[i]));
  }
  return views;
}

core::Result<std::unique_ptr<embedding::Embedder>> open_network(const lb_runtime& runtime, const char* model_folder,
                                                                const lb_options* options, const lb_call_options* call,
                                                                std::string_view output) {
  LB_RETURN_IF_ERROR(check_made_here(runtime.shared->made, "runtime"));
  LB_ASSIGN_OR_RETURN(const Call of_call, read_call(call));
  LB_ASSIGN_OR_RETURN(auto request, load_request(runtime, options, of_call));
  embedding::EmbedderOptions typed;
  typed.load = std::move(request.load);
  typed.batch_tokens = request.batch_tokens;
  typed.max_tokens = request.max_tokens;
  typed.onnx_file = std::move(request.onnx_file);
  typed.outputs = {std::string(output)};
  const auto folder = latebind::platform::path_from_utf8(model_folder);
  auto network = embedding::Embedder::open(runtime.shared->engine, folder, request.placement, typed);
  if (!network.ok()) return embedding::hub::with_damage(network.status(), folder);
  if (of_call.answered_by != nullptr) {
    LB_RETURN_IF_ERROR(give_attestation((*network)->attestation(), of_call.answered_by));
  }
  return network;
}

core::Status compute_texts(const TextCall& asked, std::size_t count, const lb_call_options* call, lb_embed_stats* stats,
                           const Compute& compute) {
  LB_ASSIGN_OR_RETURN(const Call of_call, read_call(call));
  std::shared_ptr<const core::Attestation> answered_by;
  embedding::EmbedOptions typed{.texts = asked.texts, .alone = asked.alone, .limits = of_call.limits};
  if (asked.token_counts != nullptr) typed.token_counts = {asked.token_counts, count};
  if (of_call.answered_by != nullptr) typed.answered_by = &answered_by;
  LB_ASSIGN_OR_RETURN(const embedding::EmbedStats made, compute(typed));
  if (stats != nullptr) LB_RETURN_IF_ERROR(write_stats(made, stats));
  if (of_call.answered_by == nullptr) return {};
  return give_attestation(std::move(answered_by), of_call.answered_by);
}

core::Status write_stats(const embedding::EmbedStats& stats, lb_embed_stats* out) {
  lb_embed_stats value{};
  value.texts = stats.texts;
  value.tokens = stats.tokens;
  value.padded_tokens = stats.padded_tokens;
  value.truncated_texts = stats.truncated_texts;
  value.seconds = stats.seconds;
  value.fallback_texts = stats.fallback_texts;
  return write_struct(value, out, "lb_embed_stats");
}

}  // namespace latebind::api

namespace {

// `compute` is Embedder::embed() or embed_ids(), applied to the caller's texts.
template <class Text, class Compute>
core::Status embed(std::string_view what, const lb_embedder* embedder, std::span<const Text> texts,
                   const Compute& compute, const lb_embed_options* options, const lb_call_options* call, float* vectors,
                   size_t capacity, lb_embed_stats* stats) {
  if (embedder == nullptr || (!texts.empty() && vectors == nullptr)) {
    return api::misuse(fmt::format("{}: NULL was given", what));
  }
  LB_RETURN_IF_ERROR(api::check_made_here(embedder->made, "embedder"));
  LB_RETURN_IF_ERROR(core::check_not_ending());
  LB_ASSIGN_OR_RETURN(const api::TextCall asked, api::read_embed_options(options));
  return api::compute_texts(asked, texts.size(), call, stats, [&](const embedding::EmbedOptions& of_call) {
    return std::invoke(compute, *embedder->embedder, texts, std::span(vectors, capacity), of_call);
  });
}

}  // namespace

lb_code lb_embedder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                         const lb_call_options* call, lb_embedder** embedder) {
  return api::open_encoder({"lb_embedder_open", runtime, model_folder, options, call}, "dense", embedder,
                           [](lb_embedder& made, auto network) { made.embedder = std::move(network); });
}

void lb_embedder_destroy(lb_embedder* embedder) {
  if (embedder != nullptr) api::destroy(embedder, embedder->made);
}

size_t lb_embedder_dimension(const lb_embedder* embedder) {
  return embedder != nullptr ? embedder->embedder->dimension() : 0;
}

size_t lb_embedder_max_tokens(const lb_embedder* embedder) {
  return embedder != nullptr ? embedder->embedder->max_tokens() : 0;
}

lb_code lb_embedder_embed(const lb_embedder* embedder, const lb_text* texts, size_t count,
                          const lb_embed_options* options, const lb_call_options* call, float* vectors, size_t capacity,
                          lb_embed_stats* stats) {
  return api::guarded([&]() -> core::Status {
    LB_ASSIGN_OR_RETURN(const auto views, api::read_texts(texts, count, "lb_embedder_embed"));
    return embed<std::string_view>("lb_embedder_embed", embedder, views, &embedding::Embedder::embed, options, call,
                                   vectors, capacity, stats);
  });
}

lb_code lb_embedder_embed_ids(const lb_embedder* embedder, const lb_token_ids* texts, size_t count,
                              const lb_embed_options* options, const lb_call_options* call, float* vectors,
                              size_t capacity, lb_embed_stats* stats) {
  return api::guarded([&]() -> core::Status {
    LB_RETURN_IF_ERROR(api::check_texts(texts, count, "lb_embedder_embed_ids"));
    std::vector<embedding::Embedder::Ids> views(count);
    for (size_t i = 0; i < count; ++i) {
      if (texts[i].ids == nullptr && texts[i].count > 0) {
        return api::misuse(fmt::format("lb_embedder_embed_ids: text {} is NULL", i));
      }
      if (texts[i].count > 0) views[i] = {texts[i].ids, texts[i].count};
    }
    return embed<embedding::Embedder::Ids>("lb_embedder_embed_ids", embedder, views, &embedding::Embedder::embed_ids,
                                           options, call, vectors, capacity, stats);
  });
}

lb_code lb_embedder_attestation(const lb_embedder* embedder, lb_attestation** attestation) {
  return api::give_network_attestation("lb_embedder_attestation", "embedder", embedder, attestation);
}
