// TemplateProcessing: the special tokens that a template puts around every text.
#include <fmt/format.h>

#include "core/text/quote.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;

Status append_special_token(const JsonView& view, std::string_view token, std::size_t id_end,
                            std::vector<std::int32_t>& ids) {
  constexpr std::size_t kIdsMax = 1024;
  LB_ASSIGN_OR_RETURN(const JsonView special_tokens, view.object("special_tokens"));
  const json* value = special_tokens.find(token);
  const std::string name = fmt::format("{}[{}]", special_tokens.name(), core::quoted(token));
  if (value == nullptr) return {StatusCode::kInvalidModel, fmt::format("{} is missing", name)};
  LB_ASSIGN_OR_RETURN(const JsonView special, JsonView::object(*value, name));
  LB_RETURN_IF_ERROR(special.only_keys({"id", "ids", "tokens"}));
  LB_ASSIGN_OR_RETURN(const json* listed, special.array("ids"));
  for (const json& id : *listed) {
    LB_ASSIGN_OR_RETURN(const std::int32_t checked, token_id(id, id_end, name + ".ids"));
    ids.push_back(checked);
  }
  if (ids.size() > kIdsMax) {
    return {StatusCode::kUnsupported, fmt::format("{} adds more than {} tokens", view.name(), kIdsMax)};
  }
  return {};
}

}  // namespace

Result<PostProcessor> read_template_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "single", "pair", "special_tokens"}));
  LB_ASSIGN_OR_RETURN(const json* pieces, view.array("single"));
  PostProcessor post_processor;
  bool sequence_seen = false;
  for (const json& piece : *pieces) {
    const std::string place = fmt::format("{}.single[{}]", view.name(), &piece - &pieces->front());
    LB_ASSIGN_OR_RETURN(const JsonView outer, JsonView::object(piece, place));
    const bool is_sequence = outer.find("Sequence") != nullptr;
    const char* kind = is_sequence ? "Sequence" : "SpecialToken";
    LB_RETURN_IF_ERROR(outer.only_keys({kind}));
    LB_ASSIGN_OR_RETURN(const JsonView inner, outer.object(kind));
    LB_RETURN_IF_ERROR(inner.only_keys({"id", "type_id"}));
    LB_ASSIGN_OR_RETURN(const std::string id, inner.string("id"));
    LB_ASSIGN_OR_RETURN(const std::uint64_t type_id, inner.whole_number("type_id"));
    if (type_id != 0) {
      return Status(StatusCode::kUnsupported, fmt::format("{} has type_id {} (supported: 0)", place, type_id));
    }
    if (is_sequence) {
      if (id != "A" || sequence_seen) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("{} is sequence {} (supported: the sequence 'A', once)", place, core::quoted(id)));
      }
      sequence_seen = true;
    } else {
      auto& ids = sequence_seen ? post_processor.behind : post_processor.before;
      LB_RETURN_IF_ERROR(append_special_token(view, id, id_end, ids));
    }
  }
  if (!sequence_seen) {
    return Status(StatusCode::kUnsupported, fmt::format("{}.single is without the sequence 'A'", view.name()));
  }
  return post_processor;
}

}  // namespace latebind::embedding
