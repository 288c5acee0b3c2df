// TemplateProcessing: the special tokens that one template puts around a text, and another one around two texts.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/text/quote.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

Status append_special_token(const JsonView& view, std::string_view token, std::size_t id_end,
                            std::vector<std::int32_t>& ids) {
  constexpr std::size_t kIdsMax = 1024;
  LB_ASSIGN_OR_RETURN(const JsonView special_tokens, view.object("special_tokens"));
  const Json* value = special_tokens.find(token);
  const std::string name = fmt::format("{}[{}]", special_tokens.name(), core::quoted(token));
  if (value == nullptr) return {StatusCode::kInvalidModel, fmt::format("{} is missing", name)};
  LB_ASSIGN_OR_RETURN(const JsonView special, JsonView::object(*value, name));
  LB_RETURN_IF_ERROR(special.only_keys({"id", "ids", "tokens"}));
  LB_ASSIGN_OR_RETURN(const Json* listed, special.array("ids"));
  for (const Json& id : *listed) {
    LB_ASSIGN_OR_RETURN(const std::int32_t checked, token_id(id, id_end, name + ".ids"));
    ids.push_back(checked);
  }
  if (ids.size() > kIdsMax) {
    return {StatusCode::kUnsupported, fmt::format("{} adds more than {} tokens", view.name(), kIdsMax)};
  }
  return {};
}

// An element of a template: a text or a special token, and its type.
struct TemplatePiece {
  bool is_sequence = false;
  std::string id{};
  std::uint64_t type = 0;
};

Result<TemplatePiece> read_piece(const Json& piece, const std::string& place) {
  LB_ASSIGN_OR_RETURN(const JsonView outer, JsonView::object(piece, place));
  TemplatePiece read{.is_sequence = outer.find("Sequence") != nullptr};
  const char* kind = read.is_sequence ? "Sequence" : "SpecialToken";
  LB_RETURN_IF_ERROR(outer.only_keys({kind}));
  LB_ASSIGN_OR_RETURN(const JsonView inner, outer.object(kind));
  LB_RETURN_IF_ERROR(inner.only_keys({"id", "type_id"}));
  LB_ASSIGN_OR_RETURN(read.id, inner.string("id"));
  LB_ASSIGN_OR_RETURN(read.type, inner.whole_number("type_id"));
  return read;
}

// Reads "pair": the sequences 'A' and 'B' in this order, with types that are 0 and, from a place after 'A' on, 1.
Result<PairProcessor> read_pair_template(const JsonView& view, std::size_t id_end) {
  LB_ASSIGN_OR_RETURN(const Json* pieces, view.array("pair"));
  PairProcessor pair;
  std::size_t texts = 0;
  for (const Json& each : *pieces) {
    const std::string place = fmt::format("{}.pair[{}]", view.name(), &each - &pieces->front());
    LB_ASSIGN_OR_RETURN(const TemplatePiece piece, read_piece(each, place));
    if (piece.is_sequence) {
      if (texts == 2 || piece.id != (texts == 0 ? "A" : "B")) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("{} is sequence {} (supported: the sequences 'A' and 'B', once and in this order)",
                                  place, core::quoted(piece.id)));
      }
      ++texts;
    }
    const bool may_be_one = texts > 0 && !(piece.is_sequence && texts == 1);
    if (piece.type == 1 && may_be_one && !pair.type_one_from && (texts == 1 || piece.is_sequence)) {
      pair.type_one_from = pair.between.size();
    } else if (piece.type != (pair.type_one_from ? 1 : 0)) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("{} has type_id {} (supported: 0, and 1 from a place after the sequence 'A' and not after 'B')",
                      place, piece.type));
    }
    if (piece.is_sequence) continue;
    auto& ids = texts == 0 ? pair.before : texts == 1 ? pair.between : pair.after;
    LB_RETURN_IF_ERROR(append_special_token(view, piece.id, id_end, ids));
  }
  if (texts != 2) {
    return Status(StatusCode::kUnsupported, fmt::format("{}.pair is without the sequences 'A' and 'B'", view.name()));
  }
  return pair;
}

}  // namespace

Result<PostProcessor> read_template_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "single", "pair", "special_tokens"}));
  LB_ASSIGN_OR_RETURN(const Json* pieces, view.array("single"));
  PostProcessor post_processor;
  bool sequence_seen = false;
  for (const Json& each : *pieces) {
    const std::string place = fmt::format("{}.single[{}]", view.name(), &each - &pieces->front());
    LB_ASSIGN_OR_RETURN(const TemplatePiece piece, read_piece(each, place));
    if (piece.type != 0) {
      return Status(StatusCode::kUnsupported, fmt::format("{} has type_id {} (supported: 0)", place, piece.type));
    }
    if (piece.is_sequence) {
      if (piece.id != "A" || sequence_seen) {
        return Status(StatusCode::kUnsupported, fmt::format("{} is sequence {} (supported: the sequence 'A', once)",
                                                            place, core::quoted(piece.id)));
      }
      sequence_seen = true;
    } else {
      auto& ids = sequence_seen ? post_processor.after : post_processor.before;
      LB_RETURN_IF_ERROR(append_special_token(view, piece.id, id_end, ids));
    }
  }
  if (!sequence_seen) {
    return Status(StatusCode::kUnsupported, fmt::format("{}.single is without the sequence 'A'", view.name()));
  }
  post_processor.pair = read_pair_template(view, id_end);
  return post_processor;
}

}  // namespace latebind::embedding
