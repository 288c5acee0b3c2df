#include "embedding/inputs/text_limits.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "core/text/quote.h"
#include "embedding/folder/specification.h"
#include "embedding/inputs/prompts.h"
#include "embedding/inputs/text_options.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

core::Result<TokenLimits> TextLimits::of_call(const TextOptions& options, const Prompts& prompts) const {
  TokenLimits limits = of(options.role);
  if (options.max_tokens > 0) limits.max_tokens = options.max_tokens;
  if (limits.filling && limits.max_tokens < limits.filling->length) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} tokens of a query were asked for; the model fills queries up to {}",
                              limits.max_tokens, limits.filling->length));
  }
  limits.refuse_longer = options.refuse_longer;
  limits.keep_end = options.keep_end;
  LB_ASSIGN_OR_RETURN(limits.task, prompts.tasks.choose(options.prompt.task, options.role));
  // Without a choice, texts of a multi-vector encoder get their marker, and other texts the prompt of their role.
  if (!query || options.prompt.is_made()) {
    LB_ASSIGN_OR_RETURN(limits.prompt, prompts.choose(options.prompt, options.role));
  }
  return limits;
}

core::Result<TextLimits> text_limits(const Specification& model, std::size_t wanted) {
  TextLimits limits(TokenLimits{.token_types = model.input.token_types, .frame = model.input.frame});
  LB_ASSIGN_OR_RETURN(limits.document.max_tokens, model.token_limit(wanted));
  if (!model.input.roles) return limits;
  const Roles& roles = *model.input.roles;
  if (wanted == 0) limits.document.max_tokens = roles.document.length;
  limits.query = limits.document;
  limits.query->max_tokens = roles.query.length;
  // The model defines the length to which queries are filled up.
  if (wanted != 0 && !roles.query.expansion) limits.query->max_tokens = wanted;
  return limits;
}

core::Result<TextLimits> text_limits(const Specification& model, const Tokenizer& tokenizer, std::size_t wanted) {
  LB_ASSIGN_OR_RETURN(TextLimits limits, text_limits(model, wanted));
  LB_RETURN_IF_ERROR(set_roles(model, tokenizer, limits));
  return limits;
}

Status set_roles(const Specification& model, const Tokenizer& tokenizer, TextLimits& limits) {
  if (!model.input.roles) return {};
  const Roles& roles = *model.input.roles;
  for (const auto& [role, into] :
       {std::pair{&roles.document, &limits.document}, std::pair{&roles.query, &*limits.query}}) {
    into->prompt = role->prompt;
    TokenFilter filter{.only = role->only};
    // A word that is not a token occurs in no text.
    for (const std::string& word : role->left_out) {
      if (const auto id = tokenizer.id_of(word)) filter.left_out.push_back(*id);
    }
    std::ranges::sort(filter.left_out);
    if (role->expansion) {
      const QueryExpansion& expansion = *role->expansion;
      const auto id = tokenizer.id_of(expansion.token);
      if (!id) {
        return {StatusCode::kInvalidModel,
                fmt::format("{}: queries are filled up with '{}', which is not a token of its tokenizer", model.name(),
                            core::printable(expansion.token))};
      }
      into->filling = Filling{.length = expansion.length,
                              .id = *id,
                              .is_attended = expansion.attend,
                              .is_kept = expansion.attend || roles.keeps_expansion};
    }
    const bool keeps_all = filter.left_out.empty() && filter.only.empty() && (!into->filling || into->filling->is_kept);
    if (!keeps_all) into->filter = std::make_shared<const TokenFilter>(std::move(filter));
  }
  return {};
}

}  // namespace latebind::embedding
