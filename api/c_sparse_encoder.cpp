// The sparse encoder of the C interface.
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_encoder.h"
#include "core/threads/background_work.h"
#include "embedding/outputs/sparse_vector.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace {

constexpr std::string_view kEncode = "lb_sparse_encoder_encode";
constexpr std::string_view kSparseEncoder = "sparse encoder";

std::unique_ptr<lb_sparse_list> list_of(std::span<const embedding::SparseVector> vectors) {
  auto list = std::make_unique<lb_sparse_list>();
  std::size_t entries = 0;
  for (const embedding::SparseVector& vector : vectors)
    entries += vector.indices.size();
  list->begins.reserve(vectors.size() + 1);
  list->indices.reserve(entries);
  list->values.reserve(entries);
  for (const embedding::SparseVector& vector : vectors) {
    list->begins.push_back(list->indices.size());
    list->indices.insert(list->indices.end(), vector.indices.begin(), vector.indices.end());
    list->values.insert(list->values.end(), vector.values.begin(), vector.values.end());
  }
  list->begins.push_back(list->indices.size());
  return list;
}

}  // namespace

lb_code lb_sparse_encoder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                               const lb_call_options* call, lb_sparse_encoder** encoder) {
  return api::open_encoder({"lb_sparse_encoder_open", runtime, model_folder, options, call}, "sparse", encoder,
                           [](lb_sparse_encoder& made, auto network) { made.model = std::move(network); });
}

void lb_sparse_encoder_destroy(lb_sparse_encoder* encoder) {
  if (encoder != nullptr) api::destroy(encoder, encoder->made);
}

size_t lb_sparse_encoder_vocabulary_size(const lb_sparse_encoder* encoder) {
  return encoder != nullptr ? encoder->model->dimension() : 0;
}

size_t lb_sparse_encoder_max_tokens(const lb_sparse_encoder* encoder) {
  return encoder != nullptr ? encoder->model->max_tokens() : 0;
}

lb_code lb_sparse_encoder_tokenizer(const lb_sparse_encoder* encoder, lb_tokenizer** tokenizer) {
  return api::give_tokenizer("lb_sparse_encoder_tokenizer", kSparseEncoder, encoder, tokenizer);
}

lb_code lb_sparse_encoder_encode(const lb_sparse_encoder* encoder, const lb_text* texts, size_t count,
                                 const lb_embed_options* options, const lb_call_options* call, lb_sparse_list** list,
                                 lb_embed_stats* stats) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || list == nullptr) return api::misuse("lb_sparse_encoder_encode: NULL was given");
    *list = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(encoder->made, kSparseEncoder));
    LB_RETURN_IF_ERROR(core::check_not_ending());
    LB_ASSIGN_OR_RETURN(const auto views, api::read_texts(texts, count, kEncode));
    LB_ASSIGN_OR_RETURN(const api::TextCall asked, api::read_embed_options(options));
    std::vector<embedding::SparseVector> vectors(count);
    LB_RETURN_IF_ERROR(api::compute_texts(asked, count, call, stats, [&](const embedding::EmbedOptions& of_call) {
      return encoder->model->embed_sparse(views, vectors, of_call);
    }));
    *list = list_of(vectors).release();
    return {};
  });
}

void lb_sparse_list_destroy(lb_sparse_list* list) {
  delete list;
}

lb_code lb_sparse_list_rows(const lb_sparse_list* list, lb_sparse_rows* rows) {
  return api::guarded([&]() -> core::Status {
    if (list == nullptr || rows == nullptr) return api::misuse("lb_sparse_list_rows: NULL was given");
    *rows = {list->begins.size() - 1, list->begins.data(), list->indices.data(), list->values.data()};
    return {};
  });
}

lb_code lb_sparse_encoder_attestation(const lb_sparse_encoder* encoder, lb_attestation** attestation) {
  return api::give_network_attestation("lb_sparse_encoder_attestation", kSparseEncoder, encoder, attestation);
}
