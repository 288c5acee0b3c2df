#include "embedding/inputs/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// The most bytes of a prompt's name in a message.
constexpr std::size_t kShownBytes = 60;

std::string names_of(const std::map<std::string, std::string, std::less<>>& prompts) {
  std::string names;
  for (const auto& [name, text] : prompts)
    names += (names.empty() ? "" : ", ") + core::printable(name);
  return names.empty() ? "none" : names;
}

// The names of the prompts for a role, by preference.
constexpr std::string_view kQueryNames[] = {"query"};
constexpr std::string_view kDocumentNames[] = {"document", "passage", "corpus"};

std::string_view other_name_of(std::string_view purpose) {
  return purpose == "clustering" ? std::string_view("separation") : purpose;
}

std::span<const std::string_view> names_for(TextRole role) {
  if (role == TextRole::kQuery) return kQueryNames;
  return kDocumentNames;
}

}  // namespace

std::string Prompts::of(TextRole role) const {
  if (role == TextRole::kUnspecified) return by_default;
  for (const std::string_view name : names_for(role)) {
    if (const auto found = by_name.find(name); found != by_name.end()) return found->second;
  }
  return {};
}

Result<std::string> Prompts::choose(const PromptChoice& choice, TextRole role) const {
  if (choice.text && choice.name) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the prompt {} and the name of one, {}, were given: give one of them",
                              core::quoted(*choice.text, kShownBytes), core::quoted(*choice.name, kShownBytes)));
  }
  LB_ASSIGN_OR_RETURN(const std::uint32_t task, tasks.choose(choice.task, role));
  std::string chosen = of(role);
  if (task > 0) {
    if (const auto of_task = by_name.find(tasks.names[task - 1]); of_task != by_name.end()) chosen = of_task->second;
  }
  if (choice.text) {
    if (const auto bad = core::find_invalid_utf8(*choice.text)) {
      return Status(StatusCode::kInvalidArgument, fmt::format("the prompt is not UTF-8 at byte {}", *bad));
    }
    chosen = *choice.text;
  } else if (choice.name) {
    const auto found = by_name.find(*choice.name);
    if (found == by_name.end()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the model has no prompt {}; it has: {}", core::quoted(*choice.name, kShownBytes),
                                names_of(by_name)));
    }
    chosen = found->second;
  }
  if (!chosen.empty() && !excluded_by.empty()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: 'include_prompt' is false: vectors without the tokens of a prompt, here {}, are not "
                              "supported with modules that have weights behind the pooling, nor of a ready ONNX file",
                              excluded_by, core::quoted(chosen, kShownBytes)));
  }
  return chosen;
}

PromptChoice Prompts::for_purpose(std::string_view purpose) const {
  for (const std::string_view wanted : {purpose, other_name_of(purpose)}) {
    const auto task =
        std::ranges::find_if(tasks.names, [&](const auto& name) { return core::equals_in_any_case(name, wanted); });
    if (task != tasks.names.end()) return {.task = *task};
    const auto prompt =
        std::ranges::find_if(by_name, [&](const auto& one) { return core::equals_in_any_case(one.first, wanted); });
    if (prompt != by_name.end()) return {.name = prompt->first};
  }
  return {};
}

Result<std::size_t> count_prompt_tokens(std::string_view prompt, const Tokenizer& tokenizer, std::size_t max_tokens) {
  std::vector<std::int32_t> ids;
  LB_RETURN_IF_ERROR(tokenizer.encode(prompt, max_tokens, ids));
  const bool ends_special = !ids.empty() && tokenizer.is_special(ids.back());
  return ids.size() - (ends_special ? 1 : 0);
}

}  // namespace latebind::embedding
