#include "embedding/tokenizer/vocabulary_files/sentence_piece.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>

#include "core/graph/protobuf.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::ProtobufField;
using graph::ProtobufFields;
using graph::ProtobufKind;

// The fields of each message that are used.
constexpr std::uint32_t kModelPieces = 1;
constexpr std::uint32_t kModelTrainer = 2;
constexpr std::uint32_t kModelNormalizer = 3;
constexpr std::uint32_t kPieceText = 1;
constexpr std::uint32_t kPieceScore = 2;
constexpr std::uint32_t kPieceType = 3;
constexpr std::uint32_t kTrainerModelType = 3;
constexpr std::uint32_t kNormalizerMap = 2;

constexpr std::uint64_t kUnigramModel = 1;

Status damaged(std::size_t at, std::string_view what) {
  return {StatusCode::kInvalidModel, fmt::format("damaged at byte {}: {}", at, what)};
}

// The fields of a message inside the file, with positions in the file.
class Message {
 public:
  Message(std::span<const std::byte> file, std::span<const std::byte> bytes)
      : fields_(bytes), start_(static_cast<std::size_t>(bytes.data() - file.data())) {}

  std::optional<ProtobufField> next() { return fields_.next(); }
  [[nodiscard]] std::size_t at() const { return start_ + fields_.offset(); }
  // Valid after the last field.
  [[nodiscard]] Status status() const { return fields_.damaged() ? damaged(at(), fields_.what_is_wrong()) : Status(); }
  [[nodiscard]] Status expect(const ProtobufField& field, ProtobufKind kind) const {
    return field.kind == kind ? Status() : damaged(at(), fmt::format("field {} is of another kind", field.number));
  }

 private:
  ProtobufFields fields_;
  std::size_t start_;
};

float float_of(std::span<const std::byte> bytes) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i)
    bits |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return std::bit_cast<float>(bits);
}

Result<SentencePieceModel::Piece> read_piece(Message message) {
  SentencePieceModel::Piece piece;
  while (const auto field = message.next()) {
    if (field->number == kPieceText) {
      LB_RETURN_IF_ERROR(message.expect(*field, ProtobufKind::kBytes));
      piece.text = field->text();
      if (core::find_invalid_utf8(piece.text)) return damaged(message.at(), "a piece is not UTF-8");
    } else if (field->number == kPieceScore) {
      LB_RETURN_IF_ERROR(message.expect(*field, ProtobufKind::kFixed32));
      piece.score = float_of(field->bytes);
      if (!std::isfinite(piece.score)) return damaged(message.at(), "a score is not finite");
    } else if (field->number == kPieceType) {
      LB_RETURN_IF_ERROR(message.expect(*field, ProtobufKind::kVarint));
      const bool is_known = field->value >= 1 && field->value <= 6;
      if (!is_known) return damaged(message.at(), fmt::format("{} is not a type of a piece", field->value));
      piece.type = static_cast<SentencePieceModel::Type>(field->value);
    }
  }
  LB_RETURN_IF_ERROR(message.status());
  return piece;
}

Status check_trainer(Message message) {
  while (const auto field = message.next()) {
    if (field->number != kTrainerModelType) continue;
    LB_RETURN_IF_ERROR(message.expect(*field, ProtobufKind::kVarint));
    if (field->value != kUnigramModel) {
      return {
          StatusCode::kUnsupported,
          fmt::format("model_type {} is not supported: without a tokenizer.json, only 1 (Unigram) is", field->value)};
    }
  }
  return message.status();
}

Status read_map(Message message, std::string_view& map) {
  while (const auto field = message.next()) {
    if (field->number != kNormalizerMap) continue;
    LB_RETURN_IF_ERROR(message.expect(*field, ProtobufKind::kBytes));
    map = field->text();
  }
  return message.status();
}

}  // namespace

Result<SentencePieceModel> SentencePieceModel::read(std::span<const std::byte> file) {
  SentencePieceModel model;
  bool has_trainer = false;
  bool has_normalizer = false;
  Message whole(file, file);
  while (const auto field = whole.next()) {
    if (field->number < kModelPieces || field->number > kModelNormalizer) continue;
    LB_RETURN_IF_ERROR(whole.expect(*field, ProtobufKind::kBytes));
    const Message part(file, field->bytes);
    if (field->number == kModelPieces) {
      if (model.pieces.size() >= Vocabulary::kTokensMax) {
        return Status(StatusCode::kUnsupported, fmt::format("more than {} pieces", Vocabulary::kTokensMax));
      }
      LB_ASSIGN_OR_RETURN(const Piece piece, read_piece(part));
      model.pieces.push_back(piece);
    } else if (field->number == kModelTrainer) {
      has_trainer = true;
      LB_RETURN_IF_ERROR(check_trainer(part));
    } else {
      has_normalizer = true;
      LB_RETURN_IF_ERROR(read_map(part, model.character_map));
    }
  }
  LB_RETURN_IF_ERROR(whole.status());
  if (model.pieces.empty() || !has_trainer || !has_normalizer) {
    return Status(StatusCode::kInvalidModel, fmt::format("not a complete SentencePiece model: no {} in its {} bytes",
                                                         model.pieces.empty() ? "pieces"
                                                         : !has_trainer       ? "trainer_spec"
                                                                              : "normalizer_spec",
                                                         file.size()));
  }
  return model;
}

}  // namespace latebind::embedding
