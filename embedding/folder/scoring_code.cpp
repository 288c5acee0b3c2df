#include "embedding/folder/scoring_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/ascii.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/licence.h"
#include "embedding/folder/modules.h"
#include "embedding/folder/read_chat_frame.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/specification.h"
#include "embedding/inputs/question_frame.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/named_token.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

namespace {

constexpr ScoringCode kZeranker{
    .name = "modeling_zeranker",
    .file = "config.json",
    .true_word = "Yes",
    .temperature = 5.0F,
    .chat = ScoringTemplate{
        .query_role = "system", .document_role = "user", .query_characters = 2'000, .document_characters = 10'000}};
constexpr ScoringCode kFlagReranker{.name = "FlagLLMReranker", .file = kCardFile, .true_word = "Yes"};

// Only this many bytes of a card are searched.
constexpr std::size_t kCardBytesMax = std::size_t{256} << 10;

// Returns whether the text calls this function: its name, not as the end of another one, and a parenthesis.
bool calls(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool is_whole = !core::is_ascii_letter(before) && !core::is_ascii_digit(before) && before != '_';
    if (is_whole && text.substr(at + name.size()).starts_with('(')) return true;
  }
  return false;
}

// Returns the token with which rows begin: that of beginnings, unless it fills up texts, too.
Result<std::string> read_begin(const ModelFiles& files, const FolderContents& contents) {
  LB_ASSIGN_OR_RETURN(const auto map,
                      read_object(files, contents.tokenizer / kSpecialTokensFile, kTokenizerConfigLimits));
  const auto named = [&](SpecialTokens::Role role) {
    auto token = named_token(contents.tokenizer_config.read, map, role);
    return token.ok() ? std::move(token) : token.status().with_context(platform::path_to_utf8(contents.tokenizer));
  };
  LB_ASSIGN_OR_RETURN(std::string begin, named(SpecialTokens::kBos));
  LB_ASSIGN_OR_RETURN(const std::string filling, named(SpecialTokens::kPad));
  return begin == filling ? std::string() : std::move(begin);
}

}  // namespace

const ScoringCode* find_scoring_code(const ModelFiles& files, const Json& config) {
  if (!network_class(config).ends_with("ForCausalLM")) return nullptr;
  if (const Json* const map = core::find_member(config, "auto_map"); map != nullptr && !map->is_null()) {
    const Json* const code = core::find_member(*map, "AutoConfig");
    const std::string_view name = code != nullptr && code->is_string() ? std::string_view(code->text()) : "";
    // The repository of the code may precede it.
    const std::size_t end = name.rfind("--");
    return name.substr(end == std::string_view::npos ? 0 : end + 2) == "modeling_zeranker.ZEConfig" ? &kZeranker
                                                                                                    : nullptr;
  }
  const auto card = files.open_file(files.place() / kCardFile);
  if (!card.ok()) return nullptr;
  const auto bytes = card->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kCardBytesMax));
  return calls(text, kFlagReranker.name) ? &kFlagReranker : nullptr;
}

Result<KnownScoring> read_known_scoring(const ModelFiles& files, const Modules& modules,
                                        const FolderContents& contents) {
  const ScoringCode& code = *modules.scoring;
  KnownScoring read{.code = &code};
  std::shared_ptr<const QuestionFrame> question;
  if (code.chat) {
    LB_ASSIGN_OR_RETURN(read.frame, read_chat_frame(files, modules, contents));
    if (read.frame == nullptr) {
      return unsupported_file(contents.tokenizer_config.file,
                              fmt::format("the model scores as {} does, and has no chat template for it", code.name));
    }
  } else {
    LB_ASSIGN_OR_RETURN(std::string begin, read_begin(files, contents));
    question =
        std::make_shared<const QuestionFrame>(std::move(begin), platform::path_to_utf8(files.place() / code.file));
    read.frame = question;
  }
  const Specification of_tokenizer{
      .files = files,
      .input = {
          .tokenizer_file = contents.tokenizer_file, .tokenizer_class = contents.tokenizer_class, .frame = read.frame}};
  LB_ASSIGN_OR_RETURN(const Tokenizer tokenizer, of_tokenizer.open_tokenizer());
  std::vector<std::int32_t> ids;
  LB_RETURN_IF_ERROR(tokenizer.encode(code.true_word, std::numeric_limits<std::int32_t>::max(), ids));
  if (ids.empty())
    return unsupported_file(contents.tokenizer_file, fmt::format("there is no token for '{}' in it", code.true_word));
  read.true_token = static_cast<std::uint32_t>(ids.front());
  if (question != nullptr) {
    LB_ASSIGN_OR_RETURN(read.max_tokens, question->default_tokens(tokenizer));
  }
  return read;
}

std::string say_scoring(const ScoringCode& code) {
  return fmt::format("{} names {}: two texts are scored as this code does, by the logit of '{}'", code.file, code.name,
                     code.true_word);
}

}  // namespace latebind::embedding
