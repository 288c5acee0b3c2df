// Streams of the C interface.
#include <fmt/format.h>

#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_encode.h"
#include "api/c_objects.h"
#include "api/c_results.h"
#include "api/c_support.h"
#include "core/threads/background_work.h"
#include "embedding/embed_stream.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

struct lb_stream {
  std::shared_ptr<const lb_runtime::Shared> runtime;
  std::shared_ptr<const embedding::Embedder> model;
  api::EncodeCall call{};  // without views of the caller's memory
  std::vector<api::RequestedOutput> requested{};
  std::unique_ptr<embedding::EmbedStream> stream{};  // destroyed before the model that it uses
  lb_results results{};                              // of the window that was pulled last
  latebind::platform::MadeIn made{};
};

namespace {

// Checks the arguments of a function that uses a stream; `what` is the function's name.
core::Status check(const lb_stream* stream, bool has_place, std::string_view what) {
  if (stream == nullptr || !has_place) return api::misuse(std::string(what) + ": NULL was given");
  return api::check_made_here(stream->made, "stream");
}

// Makes the results of a window, which refer to the stream's memory.
void set_results(lb_stream& stream, const embedding::VectorWindow& window) {
  lb_results& results = stream.results;
  results = {};
  results.count = window.token_counts.size();
  results.token_counts = window.token_counts;
  for (std::size_t i = 0; i < stream.requested.size(); ++i) {
    const api::RequestedOutput& one = stream.requested[i];
    // The window at the end of the stream has no outputs.
    const auto found = window.outputs.empty() ? embedding::ResultWindow() : window.outputs[i];
    lb_results::Part& part = results.parts.emplace_back();
    part.name = one.output->kind().name;
    part.form = api::form_of(*one.output);
    part.dimension = one.dimensions;
    if (part.form == LB_FORM_SPARSE) {
      api::set_sparse(part, found.sparse);
      continue;
    }
    part.numbers = found.vectors.data();
    if (part.form == LB_FORM_RAGGED) api::set_begins(part, found.vector_counts);
    if (!api::must_normalize(*one.output, stream.call)) continue;
    part.own_values.assign(found.vectors.begin(), found.vectors.end());
    api::normalize_rows(part.own_values, one.dimension);
    part.numbers = part.own_values.data();
  }
}

constexpr std::string_view kOpenStream = "lb_stream_open";

}  // namespace

lb_code lb_stream_open(const lb_encoder* encoder, const lb_encode_options* options, const lb_stream_options* windows,
                       lb_stream** stream) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || stream == nullptr) return api::misuse(fmt::format("{}: NULL was given", kOpenStream));
    *stream = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(encoder->made, "encoder"));
    LB_RETURN_IF_ERROR(core::check_not_ending());
    LB_RETURN_IF_ERROR(api::check_input(*encoder, embedding::kTextInput, kOpenStream));
    auto made = std::make_unique<lb_stream>();
    made->runtime = encoder->runtime;
    made->model = encoder->model;
    LB_ASSIGN_OR_RETURN(made->call, api::read_encode_options(options));
    LB_ASSIGN_OR_RETURN(const embedding::Encoder* const route, encoder->model->route_for(made->call.texts.role));
    LB_ASSIGN_OR_RETURN(made->requested, api::find_requested(*route, made->call, kOpenStream));
    for (const api::RequestedOutput& one : made->requested) {
      if (one.request.rows != nullptr)
        return api::misuse(fmt::format("{}: rows are pulled with each window", kOpenStream));
    }
    const auto names = std::views::transform(
        made->requested, [](const api::RequestedOutput& one) { return std::string(one.output->kind().name); });
    LB_ASSIGN_OR_RETURN(const lb_stream_options read, api::read_struct(windows, "lb_stream_options"));
    embedding::EmbedStreamOptions typed{.window_texts = read.window_texts, .texts = made->call.texts};
    typed.outputs.assign(names.begin(), names.end());
    if (read.window_bytes > 0) typed.window_bytes = read.window_bytes;
    LB_ASSIGN_OR_RETURN(made->stream, embedding::EmbedStream::open(*route, typed));
    made->call.texts.prompt = {};
    made->call.outputs = {};
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
    set_results(*stream, pulled);
    lb_window value{};
    value.first = pulled.first;
    value.count = pulled.token_counts.size();
    value.results = &stream->results;
    LB_RETURN_IF_ERROR(api::write_struct(value, window, "lb_window"));
    if (of_call.answered_by == nullptr) return {};
    if (pulled.answered_by == nullptr) pulled.answered_by = stream->model->attestation();
    return api::give_attestation(std::move(pulled.answered_by), of_call.answered_by);
  });
}

lb_code lb_stream_stats(const lb_stream* stream, lb_encode_stats* stats) {
  return api::guarded([&]() -> core::Status {
    LB_RETURN_IF_ERROR(check(stream, true, "lb_stream_stats"));
    return api::write_stats(stream->stream->stats(), stats);
  });
}
