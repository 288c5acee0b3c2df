// The multi-vector encoder of the C interface.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "api/c_encoder.h"
#include "core/threads/background_work.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace {

constexpr std::string_view kEncode = "lb_multi_vector_encoder_encode";
constexpr std::string_view kCompare = "lb_multi_vector_encoder_compare";
constexpr std::string_view kMultiVectorEncoder = "multi-vector encoder";

// The caller's vectors, grouped by text.
class Rows {
 public:
  // `what` is "queries" or "documents", for messages.
  static core::Result<Rows> read(const lb_multi_vector_rows& given, std::size_t dimension, std::string_view what) {
    if (given.count == 0) return Rows(given);
    if (given.begins == nullptr) return api::misuse(fmt::format("{}: the offsets of {} are NULL", kCompare, what));
    if (given.dimension != dimension) {
      return api::misuse(fmt::format("{}: the vectors of {} have {} numbers, but the model's have {}", kCompare, what,
                                     given.dimension, dimension));
    }
    if (given.count > api::kTextsMax) {
      return api::misuse(
          fmt::format("{}: {} {}; at most {} are allowed in one call", kCompare, given.count, what, api::kTextsMax));
    }
    if (given.begins[0] != 0)
      return api::misuse(fmt::format("{}: the offsets of {} do not begin with 0", kCompare, what));
    for (std::size_t i = 0; i < given.count; ++i) {
      if (given.begins[i] <= given.begins[i + 1]) continue;
      return api::misuse(fmt::format("{}: the offsets of {} decrease after {}", kCompare, what, i));
    }
    const std::size_t vectors = given.begins[given.count];
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(float);
    if (vectors > kMost / dimension) return api::misuse(fmt::format("{}: {} have too many vectors", kCompare, what));
    if (vectors > 0 && given.vectors == nullptr) {
      return api::misuse(fmt::format("{}: the vectors of {} are NULL", kCompare, what));
    }
    return Rows(given);
  }
  [[nodiscard]] std::span<const float> operator[](std::size_t text) const {
    const std::size_t begin = rows_.begins[text] * rows_.dimension;
    return {rows_.vectors + begin, rows_.begins[text + 1] * rows_.dimension - begin};
  }

 private:
  explicit Rows(const lb_multi_vector_rows& rows) : rows_(rows) {}
  lb_multi_vector_rows rows_;
};

}  // namespace

lb_code lb_multi_vector_encoder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                                     const lb_call_options* call, lb_multi_vector_encoder** encoder) {
  return api::open_encoder({"lb_multi_vector_encoder_open", runtime, model_folder, options, call}, "multi_vector",
                           encoder, [](lb_multi_vector_encoder& made, auto network) {
                             made.model = embedding::MultiVectorEncoder::of(std::move(network));
                           });
}

void lb_multi_vector_encoder_destroy(lb_multi_vector_encoder* encoder) {
  if (encoder != nullptr) api::destroy(encoder, encoder->made);
}

size_t lb_multi_vector_encoder_dimension(const lb_multi_vector_encoder* encoder) {
  return encoder != nullptr ? encoder->model->dimension() : 0;
}

size_t lb_multi_vector_encoder_max_tokens(const lb_multi_vector_encoder* encoder, int32_t role) {
  if (encoder == nullptr || role < LB_ROLE_UNSAID || role > LB_ROLE_DOCUMENT) return 0;
  return encoder->network().max_tokens(role == LB_ROLE_QUERY ? embedding::TextRole::kQuery
                                                             : embedding::TextRole::kDocument);
}

lb_code lb_multi_vector_encoder_tokenizer(const lb_multi_vector_encoder* encoder, lb_tokenizer** tokenizer) {
  return api::give_tokenizer("lb_multi_vector_encoder_tokenizer", kMultiVectorEncoder, encoder, tokenizer);
}

lb_code lb_multi_vector_encoder_encode(const lb_multi_vector_encoder* encoder, const lb_text* texts, size_t count,
                                       const lb_embed_options* options, const lb_call_options* call,
                                       lb_multi_vector_list** list, lb_embed_stats* stats) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || list == nullptr) return api::misuse(fmt::format("{}: NULL was given", kEncode));
    *list = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(encoder->made, kMultiVectorEncoder));
    LB_RETURN_IF_ERROR(core::check_not_ending());
    LB_ASSIGN_OR_RETURN(const auto views, api::read_texts(texts, count, kEncode));
    LB_ASSIGN_OR_RETURN(const api::TextCall asked, api::read_embed_options(options));
    auto made = std::make_unique<lb_multi_vector_list>();
    made->vectors.dimension = encoder->model->dimension();
    LB_RETURN_IF_ERROR(api::compute_texts(asked, count, call, stats, [&](const embedding::EmbedOptions& of_call) {
      return encoder->model->encode(views, made->vectors, of_call);
    }));
    *list = made.release();
    return {};
  });
}

void lb_multi_vector_list_destroy(lb_multi_vector_list* list) {
  delete list;
}

lb_code lb_multi_vector_list_rows(const lb_multi_vector_list* list, lb_multi_vector_rows* rows) {
  return api::guarded([&]() -> core::Status {
    if (list == nullptr || rows == nullptr) return api::misuse("lb_multi_vector_list_rows: NULL was given");
    const embedding::TokenVectors& vectors = list->vectors;
    *rows = {vectors.size(), vectors.dimension, vectors.begins.data(), vectors.numbers.data()};
    return {};
  });
}

lb_code lb_multi_vector_encoder_compare(const lb_multi_vector_encoder* encoder, const lb_multi_vector_rows* queries,
                                        const lb_multi_vector_rows* documents, const lb_call_options* call,
                                        float* scores, size_t capacity) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || queries == nullptr || documents == nullptr) {
      return api::misuse(fmt::format("{}: NULL was given", kCompare));
    }
    const std::size_t dimension = encoder->model->dimension();
    LB_ASSIGN_OR_RETURN(const Rows of_queries, Rows::read(*queries, dimension, "queries"));
    LB_ASSIGN_OR_RETURN(const Rows of_documents, Rows::read(*documents, dimension, "documents"));
    // Both counts are at most kTextsMax, so the product does not overflow.
    const std::size_t wanted = queries->count * documents->count;
    if (wanted > 0 && scores == nullptr) return api::misuse(fmt::format("{}: NULL was given", kCompare));
    if (capacity < wanted) {
      return {core::StatusCode::kBufferTooSmall,
              fmt::format("{} queries and {} documents have {} scores, but there is room for {}", queries->count,
                          documents->count, wanted, capacity)};
    }
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    if (of_call.answered_by != nullptr) *of_call.answered_by = nullptr;
    for (std::size_t q = 0; q < queries->count; ++q) {
      for (std::size_t d = 0; d < documents->count; ++d) {
        if (of_call.limits.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(of_call.limits));
        scores[q * documents->count + d] = encoder->model->compare(of_queries[q], of_documents[d]);
      }
    }
    return {};
  });
}

lb_code lb_multi_vector_encoder_attestation(const lb_multi_vector_encoder* encoder, lb_attestation** attestation) {
  return api::give_network_attestation("lb_multi_vector_encoder_attestation", kMultiVectorEncoder, encoder,
                                       attestation);
}
