#include "embedding/folder/read_chat_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"
#include "embedding/tokenizer/vocabulary_files/named_token.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

namespace latebind::embedding {

using core::Json;
using core::read_text;
using core::Result;
using core::Status;
using std::filesystem::path;

namespace {

constexpr std::string_view kTemplate = "chat_template";
constexpr std::string_view kDefault = "default";

// The named templates of a tokenizer. A template without a name is the only one.
struct FoundTemplates {
  path file{};
  std::vector<std::pair<std::string, std::string>> by_name{};
  bool is_list = false;
};

// Reads the entry of tokenizer_config.json: a text, or a list of named texts.
Result<FoundTemplates> read_entry(const ConfigFile& tokenizer_config) {
  FoundTemplates found{.file = tokenizer_config.file};
  const Json* const entry =
      tokenizer_config.read ? core::find_member(*tokenizer_config.read, kTemplate.data()) : nullptr;
  if (entry == nullptr || entry->is_null()) return found;
  if (entry->is_string()) {
    found.by_name.emplace_back("", entry->text());
    return found;
  }
  found.is_list = true;
  const auto add = [&](const Json& name, const Json& text) -> Status {
    if (!name.is_string() || !text.is_string()) {
      return invalid_file(found.file, fmt::format("'{}' has an entry that is no text with a name", kTemplate));
    }
    found.by_name.emplace_back(name.text(), text.text());
    return {};
  };
  if (entry->is_array()) {
    for (const Json& one : *entry)
      LB_RETURN_IF_ERROR(add(one["name"], one["template"]));
    return found;
  }
  for (const auto& [name, text] : entry->members())
    LB_RETURN_IF_ERROR(add(Json(name), text));
  if (!entry->is_object()) {
    return invalid_file(found.file, fmt::format("'{}' is neither a text nor a list of named texts", kTemplate));
  }
  return found;
}

Result<FoundTemplates> find_templates(const ModelFiles& files, const FolderContents& contents) {
  const path file = contents.tokenizer / kChatTemplateFile;
  if (!files.has(file)) return read_entry(contents.tokenizer_config);
  LB_ASSIGN_OR_RETURN(const StoredFile stored, files.open_file(file));
  const auto bytes = stored.bytes();
  FoundTemplates found{.file = file};
  found.by_name.emplace_back("", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  return found;
}

// The settings of sentence_bert_config.json for the template.
struct TemplateSettings {
  bool is_used = false;
  std::string format = "auto";
  std::string name{};
  bool restores_end = true;
  templates::Variables variables{};
};

// Reads "processing_kwargs.chat_template", arguments of apply_chat_template() and variables of the template.
Status read_arguments(const path& file, const Json& arguments, TemplateSettings& read) {
  constexpr std::array<std::string_view, 9> kOfTheCall{"padding",        "truncation",   "max_length",
                                                       "return_tensors", "tokenize",     "messages",
                                                       "return_dict",    "conversation", "continue_final_message"};
  if (!arguments.is_object()) return invalid_file(file, "'processing_kwargs.chat_template' is not an object");
  for (const auto& [key, value] : arguments.members()) {
    if (key == "restore_suffix") {
      if (!value.is_boolean()) return invalid_file(file, "'restore_suffix' is neither true nor false");
      read.restores_end = value.get<bool>();
    } else if (key == kTemplate && value.is_string()) {
      read.name = value.text();
    } else if (std::ranges::find(kOfTheCall, key) != kOfTheCall.end() || key == kTemplate) {
      return unsupported_file(file, fmt::format("'processing_kwargs.chat_template.{}' is not supported", key));
    } else {
      read.variables.emplace_back(key, templates::Value::of(value));
    }
  }
  return {};
}

Result<TemplateSettings> read_settings(const Modules& modules, const FolderContents& contents) {
  TemplateSettings read;
  const auto& [file, config] = contents.of_transformer;
  if (!modules.listed) {
    read.is_used = true;
    if (modules.scoring != nullptr) {
      read.format = "flat";
      read.variables.emplace_back("add_generation_prompt", templates::Value::boolean(true));
    }
    return read;
  }
  const Json* const modalities = config ? core::find_member(*config, "modality_config") : nullptr;
  const Json* const message = modalities != nullptr ? core::find_member(*modalities, "message") : nullptr;
  if (message == nullptr) return read;
  read.is_used = true;
  LB_ASSIGN_OR_RETURN(read.format, read_text(*message, "format", read.format, platform::path_to_utf8(file)));
  constexpr std::array<std::string_view, 3> kFormats{"auto", "flat", "structured"};
  if (std::ranges::find(kFormats, read.format) == kFormats.end()) {
    return unsupported_file(file, fmt::format("'modality_config.message.format' is '{}'; supported are flat and "
                                              "structured",
                                              core::printable(read.format)));
  }
  const Json* const processing = core::find_member(*config, "processing_kwargs");
  const Json* const arguments = processing != nullptr ? core::find_member(*processing, kTemplate.data()) : nullptr;
  if (arguments != nullptr && !arguments->is_null()) LB_RETURN_IF_ERROR(read_arguments(file, *arguments, read));
  return read;
}

// Returns whether the reference classifies the template as one whose message content is a list of parts.
bool expects_parts(std::string_view source) {
  constexpr std::array<std::string_view, 6> kSigns{"content[0]", ".type",     "'type'",
                                                   "\"type\"",   "item.type", "message.content["};
  return std::ranges::any_of(kSigns,
                             [&](std::string_view sign) { return source.find(sign) != std::string_view::npos; });
}

Result<const std::string*> choose_template(const FoundTemplates& found, const TemplateSettings& settings) {
  if (!found.is_list && settings.name.empty()) return &found.by_name.front().second;
  const std::string_view wanted = settings.name.empty() ? kDefault : std::string_view(settings.name);
  const auto one = std::ranges::find(found.by_name, wanted, &std::pair<std::string, std::string>::first);
  if (one != found.by_name.end()) return &one->second;
  return unsupported_file(found.file, fmt::format("there is no chat template {} in it", core::quoted(wanted)));
}

// Returns the variables that the tokenizer defines for its templates.
Result<templates::Variables> read_variables(const ModelFiles& files, const FolderContents& contents) {
  templates::Variables variables;
  const path file = contents.tokenizer_file.parent_path() / kSpecialTokensFile;
  LB_ASSIGN_OR_RETURN(const auto map, read_object(files, file, kTokenizerConfigLimits));
  for (std::size_t i = 0; i < SpecialTokens::kKeys.size(); ++i) {
    const auto role = static_cast<SpecialTokens::Role>(i);
    auto token = named_token(contents.tokenizer_config.read, map, role);
    if (!token.ok()) return token.status().with_context(platform::path_to_utf8(contents.tokenizer));
    if (!token->empty()) {
      variables.emplace_back(SpecialTokens::kKeys[i], templates::Value::text(*std::move(token)));
    }
  }
  variables.emplace_back("tools", templates::Value::none());
  variables.emplace_back("documents", templates::Value::none());
  variables.emplace_back("add_generation_prompt", templates::Value::boolean(false));
  return variables;
}

}  // namespace

Result<std::shared_ptr<const ChatFrame>> read_chat_frame(const ModelFiles& files, const Modules& modules,
                                                         const FolderContents& contents) {
  LB_ASSIGN_OR_RETURN(TemplateSettings settings, read_settings(modules, contents));
  if (!settings.is_used) return std::shared_ptr<const ChatFrame>();
  LB_ASSIGN_OR_RETURN(const FoundTemplates found, find_templates(files, contents));
  if (found.by_name.empty()) {
    if (!modules.listed) return std::shared_ptr<const ChatFrame>();
    return invalid_file(contents.of_transformer.file,
                        fmt::format("'modality_config' has 'message', but there is neither a {} nor a '{}' in {}",
                                    kChatTemplateFile, kTemplate, kTokenizerConfigFile));
  }
  LB_ASSIGN_OR_RETURN(const std::string* const source, choose_template(found, settings));
  auto parsed = templates::Template::parse(*source);
  const std::string name = platform::path_to_utf8(found.file);
  if (!parsed.ok()) return parsed.status().with_context(fmt::format("{}: the chat template", name));
  const bool has_parts =
      settings.format == "structured" || (settings.format == "auto" && (found.is_list || expects_parts(*source)));
  ChatTemplate made{.source = *std::move(parsed), .has_parts = has_parts};
  LB_ASSIGN_OR_RETURN(made.variables, read_variables(files, contents));
  std::ranges::move(settings.variables, std::back_inserter(made.variables));
  made.restores_end = settings.restores_end;
  made.file = name;
  if (modules.scoring != nullptr) {
    const ScoringTemplate& chat = *modules.scoring->chat;
    made.query_role = chat.query_role;
    made.document_role = chat.document_role;
    made.query_characters = chat.query_characters;
    made.document_characters = chat.document_characters;
    made.takes_instruction = false;
  }
  return ChatFrame::make(std::move(made));
}

}  // namespace latebind::embedding
