#include "embedding/tokenizer/vocabulary_files/vocabulary_lists.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/json/parse.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/json_lists.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

// Takes a line, which ends with \n or \r\n; the last one may have no end.
std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_space_behind(std::string_view line) {
  while (!line.empty()) {
    std::size_t begin = line.size() - 1;
    while (core::is_utf8_continuation(line[begin]))
      --begin;
    const char* p = line.data() + begin;
    if ((unicode::properties(core::decode_utf8(p)) & unicode::kWhitespace) == 0) break;
    line.remove_suffix(line.size() - begin);
  }
  return line;
}

Status check_utf8(std::string_view text) {
  const auto at = core::find_invalid_utf8(text);
  return at ? Status(StatusCode::kInvalidModel, fmt::format("not UTF-8 at byte {}", *at)) : Status();
}

}  // namespace

Status read_word_list(std::string_view text, ModelLists& lists) {
  LB_RETURN_IF_ERROR(check_utf8(text));
  std::unordered_map<std::string_view, std::uint64_t> lines;
  std::vector<std::string_view> tokens;
  while (!text.empty()) {
    tokens.push_back(without_space_behind(take_line(text)));
    lines[tokens.back()] = tokens.size() - 1;
    if (tokens.size() > Vocabulary::kTokensMax) {
      return {StatusCode::kUnsupported, fmt::format("more than {} tokens", Vocabulary::kTokensMax)};
    }
  }
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (lines.at(tokens[id]) == id) LB_RETURN_IF_ERROR(lists.vocabulary.add(tokens[id], id));
  }
  return {};
}

Status read_json_vocabulary(std::string_view text, ModelLists& lists) {
  JsonLists walk(text);
  const bool is_taken = walk.take_ids(lists.vocabulary) && walk.text().is_at_end();
  if (is_taken && !core::find_invalid_utf8(text)) return {};
  if (auto damage = core::find_damage(text, {})) return {StatusCode::kInvalidModel, *std::move(damage)};
  if (!walk.status().ok()) return walk.status();
  return {StatusCode::kInvalidModel, "not an object of tokens and their ids"};
}

Status read_merges(std::string_view text, ModelLists& lists) {
  LB_RETURN_IF_ERROR(check_utf8(text));
  MergeList& merges = lists.merges.emplace();
  while (!text.empty())
    LB_RETURN_IF_ERROR(merges.add_line(take_line(text)));
  return {};
}

}  // namespace latebind::embedding
