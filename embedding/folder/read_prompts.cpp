#include "embedding/folder/read_prompts.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::read_text;
using core::Result;
using core::Status;
using std::filesystem::path;

namespace {

constexpr std::size_t kPromptsMax = 256;
constexpr std::size_t kMatryoshkaMax = 64;

// Returns the prompts by name; empty if the file has none. Omits values that are not texts; check_prompts() refuses
// them in the file from which the reference reads prompts.
std::map<std::string, std::string, std::less<>> prompts_of(const core::Json& config, const char* key = "prompts") {
  std::map<std::string, std::string, std::less<>> prompts;
  const auto* const found = core::find_member(config, key);
  if (found == nullptr || !found->is_object()) return prompts;
  for (const auto& [name, prompt] : found->members()) {
    if (prompts.size() == kPromptsMax) break;
    if (!prompt.is_string()) continue;
    if (const auto& text = prompt.text(); text.size() <= kPromptBytesMax) prompts[name] = text;
  }
  return prompts;
}

// Null means no prompt, as in the reference.
Status check_prompts(const Json& config, const path& file) {
  const auto* const found = core::find_member(config, "prompts");
  if (found == nullptr) return {};
  if (!found->is_object()) {
    return invalid_file(
        file, fmt::format("'prompts' is {}, must be an object of texts by their names", core::printable_json(*found)));
  }
  if (found->size() > kPromptsMax) {
    return unsupported_file(
        file, fmt::format("'prompts' has {} texts, more than the {} supported", found->size(), kPromptsMax));
  }
  for (const auto& [name, prompt] : found->members()) {
    if (prompt.is_null()) continue;
    if (prompt.is_string() && prompt.text().size() <= kPromptBytesMax) continue;
    return invalid_file(
        file, fmt::format("'{}' of 'prompts' is not a text of at most {} bytes", printable(name), kPromptBytesMax));
  }
  return {};
}

// Returns "matryoshka_dimensions", which several models have in one of their configurations.
std::vector<std::size_t> matryoshka_of(const core::Json& config) {
  std::vector<std::size_t> dimensions;
  const auto* const found = core::find_member(config, "matryoshka_dimensions");
  if (found == nullptr || !found->is_array()) return dimensions;
  for (const auto& each : *found) {
    if (dimensions.size() == kMatryoshkaMax) break;
    if (each.is_number_unsigned() && each.get<std::uint64_t>() > 0) dimensions.push_back(each.get<std::size_t>());
  }
  return dimensions;
}

// Returns the prompt of "default_prompt_name"; "" without that key.
Result<std::string> read_default_prompt(const Json& config, const path& file) {
  if (core::find_member(config, "default_prompt_name") == nullptr) return std::string();
  LB_ASSIGN_OR_RETURN(const std::string name,
                      read_text(config, "default_prompt_name", "", platform::path_to_utf8(file)));
  const auto* const prompts = core::find_member(config, "prompts");
  if (prompts != nullptr && prompts->is_object()) {
    if (const auto prompt = prompts->find(name); prompt != nullptr) {
      if (prompt->is_null()) return std::string();
      return prompt->get<std::string>();
    }
  }
  // sentence-transformers defines these two for every model, as empty prompts.
  if (name == "query" || name == "document") return std::string();
  std::string known;
  for (const auto& [other, text] : prompts_of(config))
    known += (known.empty() ? "" : ", ") + printable(other);
  return invalid_file(file, fmt::format("'default_prompt_name' is '{}', which is not among 'prompts': {}",
                                        printable(name), known.empty() ? "there are none" : known));
}

}  // namespace

std::vector<std::size_t> read_matryoshka(const FolderContents& contents) {
  std::vector<std::size_t> dimensions;
  for (const auto* config : {&contents.own.read, &contents.first_config}) {
    if (dimensions.empty() && *config) dimensions = matryoshka_of(**config);
  }
  return dimensions;
}

Result<std::size_t> read_kept_dimensions(const FolderContents& contents) {
  const auto& [file, config] = contents.own;
  const auto* const found = config ? core::find_member(*config, "truncate_dim") : nullptr;
  // Null keeps all, as in the reference.
  if (found == nullptr || found->is_null()) return std::size_t{0};
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() == 0) {
    return invalid_file(file, fmt::format("'truncate_dim' is {}; it must be an integer above 0, or null",
                                          core::printable_json(*found)));
  }
  return static_cast<std::size_t>(found->get<std::uint64_t>());
}

Result<Prompts> read_prompts(const FolderContents& contents, const Modules& modules) {
  Prompts read;
  for (const auto* config : {&contents.own.read, &contents.first_config}) {
    if (read.by_name.empty() && *config) read.by_name = prompts_of(**config);
  }
  // The prompts of tasks have the names of the tasks.
  if (contents.config.read) read.by_name.merge(prompts_of(*contents.config.read, "task_instructions"));
  read.left_out = !modules.include_prompt;
  // Leaving out a prompt requires that Latebind pools. It cannot if the network computes modules after the pooling, nor
  // with a ready ONNX file.
  const bool pools_here = contents.has_weights && !contents.is_onnx_requested && modules.after_pooling.empty();
  if (read.left_out && !pools_here) read.excluded_by = platform::path_to_utf8(*modules.pooling_file);
  const auto& [file, config] = contents.own;
  if (!config) return read;
  LB_RETURN_IF_ERROR(check_prompts(*config, file));
  LB_ASSIGN_OR_RETURN(read.by_default, read_default_prompt(*config, file));
  if (const auto usable = read.choose({}); !usable.ok()) {
    return usable.status().with_context(fmt::format("{}: 'default_prompt_name'", platform::path_to_utf8(file)));
  }
  return read;
}

}  // namespace latebind::embedding
