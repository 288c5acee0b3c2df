// The embedder of the C interface.
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "core/platform/folders.h"
#include "core/shape_mode.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace {

core::Status read_shapes(const lb_embedder_options& read, core::LoadOptions& load) {
  LB_ASSIGN_OR_RETURN(load.shapes, core::parse_word<core::ShapeMode>(read.shapes != nullptr ? read.shapes : "auto"));
  if (read.fixed_lengths != nullptr) {
    constexpr std::size_t kMost = 32;
    if (read.fixed_length_count == 0 || read.fixed_length_count > kMost) {
      return api::misuse(
          fmt::format("lb_embedder_options: 1 to {} fixed lengths, not {}", kMost, read.fixed_length_count));
    }
    load.buckets.lengths.assign(read.fixed_lengths, read.fixed_lengths + read.fixed_length_count);
  }
  if (read.fixed_rows > 0) load.buckets.rows = read.fixed_rows;
  load.buckets.preload = read.preload != 0;
  return {};
}

}  // namespace

lb_code lb_embedder_open(const lb_runtime* runtime, const char* model_folder, const lb_embedder_options* options,
                         lb_embedder** embedder) {
  return api::guarded([&]() -> core::Status {
    if (runtime == nullptr || model_folder == nullptr || embedder == nullptr) {
      return api::misuse("lb_embedder_open: NULL was given");
    }
    *embedder = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
    LB_ASSIGN_OR_RETURN(const lb_embedder_options read, api::read_struct(options, "lb_embedder_options"));
    LB_ASSIGN_OR_RETURN(auto typed, api::typed(read.load, runtime->shared->registry));
    embedding::EmbedderOptions typed_options;
    typed_options.load = std::move(typed.load);
    if (read.batch_tokens > 0) typed_options.batch_tokens = read.batch_tokens;
    typed_options.max_tokens = read.max_tokens;
    LB_RETURN_IF_ERROR(read_shapes(read, typed_options.load));
    auto made = std::make_unique<lb_embedder>();
    made->runtime = runtime->shared;
    LB_ASSIGN_OR_RETURN(made->embedder, embedding::Embedder::open(runtime->shared->engine,
                                                                  latebind::platform::path_from_utf8(model_folder),
                                                                  typed.placement, typed_options));
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
