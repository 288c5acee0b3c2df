#include "embedding/tokenizer/vocabulary_files/vocabulary_lists.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/json/value.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using core::Json;

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

// Receives an object of tokens and their ids.
class IdsHandler : public core::Json_sax<Json> {
 public:
  explicit IdsHandler(Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  [[nodiscard]] const Status& status() const { return status_; }

  bool null() override { return no_id(); }
  bool boolean(bool) override { return no_id(); }
  bool number_integer(std::int64_t) override { return no_id(); }
  bool number_unsigned(std::uint64_t value) override {
    return is_open_ ? keep(vocabulary_.add(token_, value)) : no_object();
  }
  bool number_float(double, const std::string&) override { return no_id(); }
  bool string(std::string&) override { return no_id(); }
  bool binary(Json::binary_t&) override { return no_id(); }
  bool start_object(std::size_t) override {
    if (is_open_) return no_id();
    is_open_ = true;
    return true;
  }
  bool start_array(std::size_t) override { return no_id(); }
  bool end_object() override { return true; }
  bool end_array() override { return true; }
  bool key(std::string& name) override {
    token_.assign(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return keep({StatusCode::kInvalidModel, fmt::format("not valid JSON at byte {}", position)});
  }

 private:
  bool keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return status_.ok();
  }
  bool no_object() { return keep({StatusCode::kInvalidModel, "not an object of tokens and their ids"}); }
  bool no_id() {
    if (!is_open_) return no_object();
    return keep(
        {StatusCode::kInvalidModel, fmt::format("the id of {} is not a whole number from 0", core::quoted(token_))});
  }

  Vocabulary& vocabulary_;
  bool is_open_ = false;
  std::string token_;
  Status status_;
};

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
  if (const auto at = core::find_zero_byte(text)) {
    return {StatusCode::kInvalidModel, fmt::format("not valid JSON at byte {}: a zero byte", *at + 1)};
  }
  IdsHandler handler(lists.vocabulary);
  const bool complete = Json::sax_parse(text, &handler);
  if (!handler.status().ok()) return handler.status();
  return complete ? Status() : Status(StatusCode::kInvalidModel, "not valid JSON");
}

Status read_merges(std::string_view text, ModelLists& lists) {
  LB_RETURN_IF_ERROR(check_utf8(text));
  MergeList& merges = lists.merges.emplace();
  while (!text.empty())
    LB_RETURN_IF_ERROR(merges.add_line(take_line(text)));
  return {};
}

}  // namespace latebind::embedding
