#include "embedding/folder/specification.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/folder/default_pooling.h"
#include "embedding/folder/gguf/gguf_model.h"
#include "embedding/folder/licence.h"
#include "embedding/folder/read_chat_frame.h"
#include "embedding/folder/read_lengths.h"
#include "embedding/folder/read_network.h"
#include "embedding/folder/read_prompts.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/transformer_keys.h"
#include "embedding/folder/weights_files.h"
#include "embedding/folder/word_embeddings_module.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"
#include "embedding/weights/open_tensors.h"
#include "embedding/weights/safetensors.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

// Reads a table of term weights, which replaces the network.
Result<NetworkSpec> read_table(const ModelFiles& files, const FolderContents& contents) {
  const auto& [config_file, config] = contents.config;
  if (config) {
    LB_ASSIGN_OR_RETURN(const std::string weights,
                        core::read_text(*config, "path", "", platform::path_to_utf8(config_file)));
    if (!weights.empty()) {
      return unsupported_file(config_file, fmt::format("'path' is '{}': weights are read from {} alone",
                                                       core::printable(weights), kSafetensorsFile));
    }
  }
  const path file = single_weights_file(files, contents.transformer);
  LB_ASSIGN_OR_RETURN(StoredFile stored, files.open_file(file));
  LB_ASSIGN_OR_RETURN(const TensorFile weights, open_tensors(std::move(stored.part), stored.name));
  LB_ASSIGN_OR_RETURN(TermTable table, TermTable::read(weights));
  return NetworkSpec{
      .is_static = true, .term_table = std::make_shared<const TermTable>(std::move(table)), .term_table_file = file};
}

Status check_tokenizer_options(const FolderContents& contents) {
  if (!contents.tokenizer_config.read) return {};
  const Status status = refuse_tokenizer_options(*contents.tokenizer_config.read);
  return status.ok() ? status : status.with_context(platform::path_to_utf8(contents.tokenizer));
}

Result<InputSpec> read_input(const Declaration& given, const OutputKind& kind, const NetworkSpec& network) {
  const FolderContents& contents = given.contents;
  InputSpec input{.kind = kind.input,
                  .tokenizer_file = contents.tokenizer_file,
                  .tokenizer_class = contents.tokenizer_class,
                  .prompts = given.prompts};
  if (kind.input == &kPairInput) {
    if (contents.scoring) {
      input.frame = contents.scoring->frame;
    } else {
      LB_ASSIGN_OR_RETURN(input.frame, read_chat_frame(given.files, given.modules, contents));
    }
    input.token_types = tells_token_types(*contents.config.read, contents.tokenizer_config.read,
                                          tokenizer_of_network(*contents.config.read));
  }
  if (given.modules.words_max) {
    input.max_tokens = *given.modules.words_max;
    return input;
  }
  if (network.is_static && network.term_table == nullptr) {
    LB_ASSIGN_OR_RETURN(input.max_tokens, read_truncation(given.files, contents.tokenizer_file, kTokensMax));
    return input;
  }
  LB_RETURN_IF_ERROR(check_tokenizer_options(contents));
  // An ONNX file is complete, and its author chose its outputs.
  if (!network.weights.empty() && network.network != nullptr) {
    const auto own = network.network->tasks();
    input.prompts.tasks.names.assign(own.begin(), own.end());
    for (const TaskAdapter& task : network.tasks)
      input.prompts.tasks.names.push_back(task.task);
    input.prompts.tasks.is_needed = !network.tasks.empty();
  }
  std::size_t positions = kTokensMax;
  if (network.term_table == nullptr) {
    LB_ASSIGN_OR_RETURN(positions, count_positions(contents.config, network.network.get()));
  }
  LB_ASSIGN_OR_RETURN(input.max_tokens, read_max_tokens(contents, positions));
  if (contents.scoring) input.max_tokens = std::min(contents.scoring->max_tokens.value_or(positions), positions);
  if (!kind.has_roles) return input;
  LB_ASSIGN_OR_RETURN(input.roles, read_roles(given.files, given.modules, contents, input.max_tokens, positions));
  // Callers may also request the roles' prompts by these names.
  if (given.modules.listed) {
    for (const auto& [name, role] :
         {std::pair{"query", &input.roles->query}, std::pair{"document", &input.roles->document}}) {
      if (!role->prompt.empty()) input.prompts.by_name[name] = role->prompt;
    }
  }
  return input;
}

// Returns the files that were read, as far as they exist, including optional files.
std::vector<path> list_small_files(const Declaration& given, const NetworkSpec& network, bool expands_queries) {
  const auto& [files, modules, contents, prompts] = given;
  const path& place = files.place();
  std::vector<path> list{contents.tokenizer_file, contents.config.file, place / "modules.json"};
  if (modules.listed) list.insert(list.end(), {contents.own.file, contents.of_transformer.file});
  list.push_back(contents.tokenizer / kTokenizerConfigFile);
  if (!network.weights.empty() && network.weights.front().file != single_weights_file(files, contents.network)) {
    for (const std::string_view name : {kWeightsIndexFile, kTorchIndexFile, kGgufIndexFile})
      list.push_back(contents.network / name);
  }
  if (contents.adapter) list.push_back(contents.adapter->config_file);
  for (const TaskAdapter& task : contents.tasks)
    list.push_back(task.adapter.config_file);
  std::ranges::copy(contents.tokenizer_companions, std::back_inserter(list));
  const bool reads_more = !network.is_static || network.term_table != nullptr;
  if (contents.tokenizer_class == nullptr && reads_more) {
    for (const std::string_view name : {kSpecialTokensFile, kAddedTokensFile})
      list.push_back(contents.tokenizer_file.parent_path() / name);
  }
  if (reads_more) list.push_back(contents.tokenizer / kChatTemplateFile);
  if (expands_queries) list.push_back(contents.tokenizer / kSpecialTokensFile);
  if (modules.pooling_file) list.push_back(*modules.pooling_file);
  if (modules.scoring != nullptr) list.push_back(place / modules.scoring->file);
  std::ranges::copy(modules.files, std::back_inserter(list));
  std::vector<path> small_files;
  for (path& file : list) {
    const bool is_new = std::ranges::find(small_files, file) == small_files.end();
    if (is_new && !file.empty() && files.has(file)) small_files.push_back(std::move(file));
  }
  return small_files;
}

bool has_beside(const ModelFiles& files, const OutputKind& kind, const path& file) {
  return kind.read_beside != nullptr && files.has(file);
}

}  // namespace

Result<Specification> read_specification(ModelFiles files, const Modules& modules, const FolderOptions& options) {
  if (modules.is_term_table && !options.onnx_file.empty()) {
    return unsupported_file(files.place() / "modules.json",
                            fmt::format("SparseStaticEmbedding with the ONNX file '{}' is not supported: it is a table "
                                        "of its weights",
                                        core::printable(options.onnx_file)));
  }
  LB_RETURN_IF_ERROR(check_after_words(files, modules));
  LB_ASSIGN_OR_RETURN(FolderContents contents, modules.is_term_table ? find_table_contents(files, modules)
                                                                     : find_contents(files, modules, options));
  if (contents.adapter && files.package() == nullptr) files.add_base(contents.network);
  if (modules.scoring != nullptr) {
    LB_ASSIGN_OR_RETURN(contents.scoring, read_known_scoring(files, modules, contents));
  }
  LB_ASSIGN_OR_RETURN(const Prompts prompts, read_prompts(contents, modules));
  const Declaration given{.files = files, .modules = modules, .contents = contents, .prompts = prompts};
  LB_ASSIGN_OR_RETURN(const OutputKind* const kind, read_output_kind(given));
  if (modules.router && !kind->may_have_routes) {
    return unsupported_file(files.place() / "modules.json",
                            "a Router is supported in embedders and sparse encoders alone");
  }
  if (kind->check_modules != nullptr) LB_RETURN_IF_ERROR(kind->check_modules(given));
  Specification read;
  if (modules.is_term_table) {
    LB_ASSIGN_OR_RETURN(read.network, read_table(files, contents));
  } else {
    const HeadKind* const head = kind->find_head != nullptr ? kind->find_head(modules) : nullptr;
    LB_RETURN_IF_ERROR(check_task(contents.of_transformer, modules, head));
    LB_RETURN_IF_ERROR(check_transformer_keys(
        contents.of_transformer, {.takes_logits = head != nullptr,
                                  .takes_pooler = modules.takes_pooler,
                                  .module_output_name = head != nullptr        ? head->module_output_name
                                                        : modules.takes_pooler ? std::string_view("sentence_embedding")
                                                                               : TransformerUse().module_output_name,
                                  .has_roles = kind->has_roles,
                                  .takes_messages = kind->input == &kPairInput}));
    LB_ASSIGN_OR_RETURN(read.network, read_network(given, head));
  }
  LB_ASSIGN_OR_RETURN(auto own_output, kind->read(given, read.network));
  LB_ASSIGN_OR_RETURN(read.input, read_input(given, *kind, read.network));
  read.outputs.push_back(std::move(own_output));
  std::vector<path> beside;
  for (const OutputKind* const one : output_kinds()) {
    if (read.network.term_table != nullptr) break;
    if (one->input == nullptr) {
      LB_ASSIGN_OR_RETURN(read.outputs.emplace_back(), one->read(given, read.network));
    } else if (const path file = contents.transformer / one->file_beside;
               one != kind && has_beside(files, *one, file)) {
      if (kind->input != &kTextInput || modules.is_static || read.network.weights.empty()) continue;
      LB_ASSIGN_OR_RETURN(read.outputs.emplace_back(), one->read_beside(given, read.network));
      beside.push_back(file);
    }
  }
  if (files.gguf() != nullptr) {
    read.assumed = files.gguf()->assumed();
  } else if (modules.scoring != nullptr) {
    read.assumed = say_scoring(*modules.scoring);
  } else if (!modules.listed && kind->assumes_pooling) {
    const bool has_chat_template =
        files.has(contents.tokenizer / kChatTemplateFile) ||
        (contents.tokenizer_config.read && contents.tokenizer_config.read->contains("chat_template"));
    read.assumed = say_default_pooling(files, *contents.config.read, modules.pooling, has_chat_template);
  }
  const bool expands_queries = read.input.roles && read.input.roles->query.expansion;
  read.small_files = list_small_files(given, read.network, expands_queries);
  for (path& file : beside) {
    const auto large = read.large_files();
    if (std::ranges::find(large, file) == large.end()) read.small_files.push_back(std::move(file));
  }
  read.files = std::move(files);
  return read;
}

Result<OutputList> Specification::find_outputs(std::span<const std::string> wanted) const {
  if (wanted.empty()) return OutputList{outputs.front()};
  OutputList found;
  for (const std::string& name_of_one : wanted) {
    const auto one = std::ranges::find(outputs, name_of_one, [](const auto& each) { return each->kind().name; });
    if (one == outputs.end()) return no_such_output(name(), name_of_one, outputs);
    found.push_back(*one);
  }
  return found;
}

bool Specification::shares_one_end(const OutputList& wanted) const {
  if (wanted.size() == 1) return true;
  // The projection of each token's vector costs little beside the network, if the vectors of texts come from them, too.
  const auto is_of_tokens = [](const auto& output) {
    const NetworkEnd end = output->end(true);
    return end.hidden_states || end.token_vectors;
  };
  return files.package() == nullptr && outputs.front()->end(true).hidden_states &&
         std::ranges::all_of(wanted, is_of_tokens);
}

std::vector<path> Specification::large_files() const {
  if (network.weights.empty()) return network.onnx_file ? std::vector{*network.onnx_file} : std::vector<path>();
  std::vector<path> large;
  for (const WeightsFile& one : network.weights)
    large.push_back(one.file);
  if (network.adapter) large.push_back(network.adapter->weights);
  for (const TaskAdapter& task : network.tasks)
    large.push_back(task.adapter.weights);
  return large;
}

Result<std::size_t> Specification::token_limit(std::size_t wanted) const {
  if (wanted == 0) return input.max_tokens;
  const std::size_t most = network.network                 ? network.network->tokens_max()
                           : network.term_table != nullptr ? kTokensMax
                                                           : input.max_tokens;
  if (wanted <= most) return wanted;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{} can take at most {} tokens a text; {} were asked for", name(), most, wanted));
}

Json Specification::describe() const {
  const auto names_of = [&](const auto& paths) {
    Json names = Json::array();
    for (const auto& one : paths)
      names.push_back(files.relative(one));
    return names;
  };
  Json described;
  described["name"] = name();
  if (const Json licence = read_licence(files).describe(); !licence.is_null()) described["licence"] = licence;
  Json& in = described["input"];
  in = {{"kind", input.kind->name},         {"tokenizer", files.relative(input.tokenizer_file)},
        {"tokens_max", input.max_tokens},   {"token_types", input.token_types},
        {"prompts", input.prompts.by_name}, {"default_prompt", input.prompts.by_default}};
  if (input.frame != nullptr) in["template"] = files.relative(platform::path_from_utf8(input.frame->file()));
  if (!input.prompts.tasks.names.empty()) in["tasks"] = input.prompts.tasks.names;
  if (input.roles) {
    for (const auto& [role, spec] :
         {std::pair{"query", &input.roles->query}, std::pair{"document", &input.roles->document}}) {
      Json& of_role = in["roles"][role];
      of_role = {{"prompt", spec->prompt}, {"tokens_max", spec->length}};
      if (spec->expansion) of_role["filled_up_with"] = spec->expansion->token;
    }
  }
  Json& computed = described["network"];
  computed = {{"form", network.term_table != nullptr ? "table"
                       : !network.weights.empty()    ? "weights"
                                                     : "onnx"},
              {"files", names_of(network.term_table_file ? std::vector{*network.term_table_file} : large_files())},
              {"hidden_size", network.hidden_size}};
  if (network.adapter) computed["adapter"] = {{"base", network.adapter->config.base}};
  if (files.gguf() != nullptr) computed["types"] = files.gguf()->types();
  if (network.network != nullptr) {
    computed["vocabulary"] = network.network->vocabulary_size();
    computed["positions"] = network.network->tokens_max();
  }
  for (const auto& one : outputs)
    described["outputs"][std::string(one->kind().name)] = one->describe();
  described["files"] = names_of(small_files);
  if (!assumed.empty()) described["assumed"] = assumed;
  return described;
}

}  // namespace latebind::embedding
