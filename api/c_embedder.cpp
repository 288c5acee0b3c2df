// The embedder of the C interface.
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "core/platform/folders.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

lb_code lb_embedder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                         const lb_call_options* call, lb_embedder** embedder) {
  return api::guarded([&]() -> core::Status {
    if (runtime == nullptr || model_folder == nullptr || embedder == nullptr) {
      return api::misuse("lb_embedder_open: NULL was given");
    }
    *embedder = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    LB_ASSIGN_OR_RETURN(auto request, api::load_request(*runtime, options, of_call));
    const embedding::EmbedderOptions typed{
        .load = std::move(request.load), .batch_tokens = request.batch_tokens, .max_tokens = request.max_tokens};
    auto made = std::make_unique<lb_embedder>();
    made->runtime = runtime->shared;
    LB_ASSIGN_OR_RETURN(made->embedder, embedding::Embedder::open(runtime->shared->engine,
                                                                  latebind::platform::path_from_utf8(model_folder),
                                                                  request.placement, typed));
    if (of_call.answered_by != nullptr) {
      LB_RETURN_IF_ERROR(api::give_attestation(made->embedder->attestation(), of_call.answered_by));
    }
    *embedder = made.release();
    return {};
  });
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

lb_code lb_embedder_embed(const lb_embedder* embedder, const lb_text* texts, size_t count, float* vectors,
                          size_t capacity, lb_embed_stats* stats) {
  return api::guarded([&]() -> core::Status {
    if (embedder == nullptr || (count > 0 && (texts == nullptr || vectors == nullptr))) {
      return api::misuse("lb_embedder_embed: NULL was given");
    }
    LB_RETURN_IF_ERROR(api::check_made_here(embedder->made, "embedder"));
    const size_t dimension = embedder->embedder->dimension();
    if (count > capacity / dimension) {
      return core::Status(core::StatusCode::kBufferTooSmall,
                          fmt::format("{} vectors of {} floats do not fit in {} floats", count, dimension, capacity));
    }
    std::vector<std::string_view> views(count);
    for (size_t i = 0; i < count; ++i) {
      if (texts[i].data == nullptr && texts[i].size > 0) {
        return api::misuse(fmt::format("lb_embedder_embed: text {} is NULL", i));
      }
      if (texts[i].size > 0) views[i] = {texts[i].data, texts[i].size};
    }
    LB_ASSIGN_OR_RETURN(const embedding::EmbedStats made,
                        embedder->embedder->embed(views, {vectors, count * dimension}));
    if (stats == nullptr) return {};
    lb_embed_stats value{};
    value.texts = made.texts;
    value.tokens = made.tokens;
    value.padded_tokens = made.padded_tokens;
    value.truncated_texts = made.truncated_texts;
    value.seconds = made.seconds;
    value.fallback_texts = made.fallback_texts;
    return api::write_struct(value, stats, "lb_embed_stats");
  });
}

lb_code lb_embedder_attestation(const lb_embedder* embedder, lb_attestation** attestation) {
  return api::guarded([&]() -> core::Status {
    if (embedder == nullptr) return api::misuse("lb_embedder_attestation: NULL was given");
    LB_RETURN_IF_ERROR(api::check_made_here(embedder->made, "embedder"));
    return api::give_attestation(embedder->embedder->attestation(), attestation, embedder->embedder->hung_runs());
  });
}
