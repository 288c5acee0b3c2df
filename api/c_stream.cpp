// Streams of the C interface.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "core/threads/background_work.h"
#include "embedding/embed_stream.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

struct lb_stream {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::shared_ptr<const embedding::Embedder> embedder;
  std::unique_ptr<embedding::EmbedStream> stream;  // destroyed before the embedder it uses
  latebind::platform::MadeIn made{};
};

namespace {

// Checks the arguments of a function that uses a stream; `what` is the function's name.
core::Status check(const lb_stream* stream, bool has_place, std::string_view what) {
  if (stream == nullptr || !has_place) return api::misuse(std::string(what) + ": NULL was given");
  return api::check_made_here(stream->made, "stream");
}

}  // namespace

lb_code lb_stream_open(const lb_embedder* embedder, const lb_embed_options* options, const lb_stream_options* windows,
                       lb_stream** stream) {
  return api::guarded([&]() -> core::Status {
    if (embedder == nullptr || stream == nullptr) return api::misuse("lb_stream_open: NULL was given");
    *stream = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(embedder->made, "embedder"));
    LB_RETURN_IF_ERROR(core::check_not_ending());
    LB_ASSIGN_OR_RETURN(const api::TextCall asked, api::read_embed_options(options));
    if (asked.token_counts != nullptr) return api::misuse("lb_stream_open: token counts are returned with each window");
    LB_ASSIGN_OR_RETURN(const lb_stream_options read, api::read_struct(windows, "lb_stream_options"));
    embedding::EmbedStreamOptions typed{.window_texts = read.window_texts, .texts = asked.texts};
    if (read.window_bytes > 0) typed.window_bytes = read.window_bytes;
    auto made = std::make_unique<lb_stream>();
    made->runtime = embedder->runtime;
    made->embedder = embedder->embedder;
    LB_ASSIGN_OR_RETURN(made->stream, embedding::EmbedStream::open(*made->embedder, typed));
    *stream = made.release();
    return {};
  });
}

void lb_stream_destroy(lb_stream* stream) {
  if (stream != nullptr) api::destroy(stream, stream->made);
}

lb_code lb_stream_push(lb_stream* stream, const lb_text* texts, size_t count, size_t* taken) {
  return api::guarded([&]() -> core::Status {
    if (taken != nullptr) *taken = 0;
    LB_RETURN_IF_ERROR(check(stream, taken != nullptr, "lb_stream_push"));
    LB_ASSIGN_OR_RETURN(const auto views, api::read_texts(texts, count, "lb_stream_push"));
    for (const std::string_view text : views) {
      if (stream->stream->is_full()) return {};
      LB_RETURN_IF_ERROR(stream->stream->push(text));
      ++*taken;
    }
    return {};
  });
}

lb_code lb_stream_wait_for_room(lb_stream* stream, const lb_call_options* call) {
  return api::guarded([&]() -> core::Status {
    LB_RETURN_IF_ERROR(check(stream, true, "lb_stream_wait_for_room"));
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    return stream->stream->wait_for_room(of_call.limits);
  });
}

lb_code lb_stream_finish(lb_stream* stream) {
  return api::guarded([&]() -> core::Status {
    LB_RETURN_IF_ERROR(check(stream, true, "lb_stream_finish"));
    return stream->stream->finish();
  });
}

lb_code lb_stream_pull(lb_stream* stream, const lb_call_options* call, lb_window* window) {
  return api::guarded([&]() -> core::Status {
    LB_RETURN_IF_ERROR(check(stream, window != nullptr, "lb_stream_pull"));
    LB_RETURN_IF_ERROR(core::check_not_ending());
    // Reports a struct without its size before a window is taken from the stream.
    LB_RETURN_IF_ERROR(api::write_struct(lb_window{}, window, "lb_window"));
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    LB_ASSIGN_OR_RETURN(embedding::VectorWindow pulled, stream->stream->pull(of_call.limits));
    lb_window value{};
    value.first = pulled.first;
    value.count = pulled.token_counts.size();
    value.dimensions = stream->stream->dimensions();
    value.vectors = pulled.vectors.data();
    value.token_counts = pulled.token_counts.data();
    LB_RETURN_IF_ERROR(api::write_struct(value, window, "lb_window"));
    if (of_call.answered_by == nullptr) return {};
    if (pulled.answered_by == nullptr) pulled.answered_by = stream->embedder->attestation();
    return api::give_attestation(std::move(pulled.answered_by), of_call.answered_by);
  });
}

lb_code lb_stream_stats(const lb_stream* stream, lb_embed_stats* stats) {
  return api::guarded([&]() -> core::Status {
    LB_RETURN_IF_ERROR(check(stream, true, "lb_stream_stats"));
    return api::write_stats(stream->stream->stats(), stats);
  });
}
