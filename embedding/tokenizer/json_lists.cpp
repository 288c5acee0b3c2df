#include "embedding/tokenizer/json_lists.h"

#include <fmt/format.h>

#include "core/json/parse.h"
#include "core/text/quote.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

std::optional<std::string_view> JsonLists::take_string(std::string& decoded) {
  const PlainJson begin = text_;
  if (auto plain = text_.take_string()) return plain;
  text_ = begin;
  const auto written = text_.take_written_string();
  if (!written) return std::nullopt;
  core::Json json;
  if (core::read_json(*written, {.bytes_max = written->size()}, json)) return std::nullopt;
  decoded = json.text();
  return decoded;
}

bool JsonLists::take_ids(Vocabulary& vocabulary) {
  return take_object([&](std::string_view token) {
    const auto id = text_.take_whole_number();
    if (id && (text_.is_before(',') || text_.is_before('}'))) return keep(vocabulary.add(token, *id));
    return keep({StatusCode::kInvalidModel, fmt::format("the id of {} is not a whole number from 0 to {}",
                                                        core::quoted(token), Vocabulary::kIdEnd - 1)});
  });
}

bool JsonLists::take_scores(Vocabulary& vocabulary, platform::LargeVector<double>& scores) {
  return take_array([&] {
    const auto is_entry = [&] {
      if (!text_.take('[')) return false;
      const auto token = take_string(decoded_);
      if (!token || !text_.take(',')) return false;
      const auto score = text_.take_number(rounding_);
      if (!score || !text_.take(']') || !keep(vocabulary.add(*token, scores.size()))) return false;
      scores.push_back(*score);
      return true;
    };
    if (is_entry()) return true;
    return status_.ok() &&
           keep({StatusCode::kInvalidModel, fmt::format("entry {} is not a token and its score", scores.size())});
  });
}

bool JsonLists::take_pair(MergeList& merges) {
  if (!text_.take('[')) return false;
  const auto left = take_string(decoded_);
  if (!left || !text_.take(',')) return false;
  const auto right = take_string(decoded_right_);
  if (!right || !text_.take(']')) return false;
  // Most halves are of the text, in which the right one follows.
  if (left->data() != decoded_.data() && right->data() != decoded_right_.data()) return keep(merges.add(*left, *right));
  const std::string_view both = merges.keep(*left, *right);
  return keep(merges.add(both.substr(0, left->size()), both.substr(left->size())));
}

bool JsonLists::take_merges(MergeList& merges) {
  std::size_t taken = 0;
  bool are_pairs = false;
  return take_array([&] {
    if (taken == 0) are_pairs = text_.is_before('[');
    const auto is_merge = [&] {
      if (are_pairs) return take_pair(merges);
      const auto line = take_string(decoded_);
      return line && keep(merges.add_line(line->data() == decoded_.data() ? merges.keep(*line) : *line));
    };
    if (is_merge()) {
      ++taken;
      return true;
    }
    return status_.ok() &&
           keep({StatusCode::kInvalidModel,
                 fmt::format("merge {} does not have the form of the first one, a text or two texts", taken)});
  });
}

}  // namespace latebind::embedding
