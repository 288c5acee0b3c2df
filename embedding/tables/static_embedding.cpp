#include "embedding/tables/static_embedding.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "embedding/architectures/encoder.h"
#include "embedding/tables/model2vec.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::Value;

class StaticNetwork final : public EncoderNetwork {
 public:
  StaticNetwork(const EncoderSizes& sizes, std::string table) : EncoderNetwork(sizes), table_(std::move(table)) {}

  [[nodiscard]] Result<graph::Graph> make_graph(const ModelWeights& weights, const NetworkUse& use) const override {
    EncoderBuilder encoder(sizes(), weights, use, "", table_);
    const auto [ids, mask] = encoder.inputs();
    LB_ASSIGN_OR_RETURN(const Value x, encoder.words(ids, sizes().hidden));
    return std::move(encoder).finish(x, mask);
  }

 private:
  const std::string table_;
};

// Reads the network of a table that is stored as it is.
Result<std::shared_ptr<const Network>> read_table(const TensorFile& weights, std::string table, EncoderSizes sizes) {
  const auto shape = weights.shape_of(table);
  const auto is_within = [](std::int64_t size, std::size_t most) {
    return size > 0 && static_cast<std::size_t>(size) <= most;
  };
  if (shape->size() != 2 || !is_within((*shape)[0], kVocabularyMax) || !is_within((*shape)[1], kHiddenSizeMax)) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: '{}' has the shape [{}], a table was expected",
                                                         weights.name(), table, fmt::join(*shape, ",")));
  }
  sizes.vocabulary = static_cast<std::size_t>((*shape)[0]);
  sizes.hidden = static_cast<std::size_t>((*shape)[1]);
  return std::shared_ptr<const Network>(std::make_shared<const StaticNetwork>(sizes, std::move(table)));
}

EncoderSizes sizes_of_tables() {
  EncoderSizes sizes;
  sizes.heads = 1;
  sizes.positions = kTokensMax;
  return sizes;
}

}  // namespace

Result<std::shared_ptr<const Network>> read_static_embedding(const TensorFile& weights) {
  EncoderSizes sizes = sizes_of_tables();
  LB_ASSIGN_OR_RETURN(const bool is_compressed, is_compressed_table(weights));
  if (is_compressed) {
    LB_ASSIGN_OR_RETURN(const TableSize size, size_of_compressed_table(weights));
    sizes.vocabulary = size.tokens;
    sizes.hidden = size.width;
    return std::shared_ptr<const Network>(std::make_shared<const StaticNetwork>(sizes, kStaticTable));
  }
  const std::string table = weights.contains(kStaticTable) ? kStaticTable : "embeddings";
  if (!weights.contains(table)) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: neither 'embedding.weight' nor 'embeddings', one of which static embeddings have",
                              weights.name()));
  }
  return read_table(weights, table, sizes);
}

Result<std::shared_ptr<const Network>> read_word_table(const TensorFile& weights) {
  constexpr const char* kTable = "emb_layer.weight";
  if (weights.contains(kTable)) return read_table(weights, kTable, sizes_of_tables());
  return Status(StatusCode::kInvalidModel,
                fmt::format("{}: no '{}', which WordEmbeddings have", weights.name(), kTable));
}

}  // namespace latebind::embedding
