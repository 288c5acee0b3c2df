#include "embedding/hub/file_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/json/read.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/gguf/pieces.h"
#include "embedding/folder/onnx_files.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/router_file.h"
#include "embedding/folder/weights_files.h"
#include "embedding/hub/name.h"
#include "embedding/outputs/output.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/weights/adapters/adapter_config.h"

namespace latebind::embedding::hub {
namespace {

using core::Json;
using core::parse_json;
using core::printable;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kGgufSuffix = ".gguf";

using Names = std::set<std::string, std::less<>>;

// One route from a text to its vector: a sequence of modules, the first of which is the transformer.
struct Route {
  std::vector<std::string> folders;  // each is empty or ends in '/'
  bool is_table = false;             // the first module is a table of vectors or weights, not a network that
                                     // config.json describes
  bool has_words = false;            // it is WordEmbeddings
};

Result<Json> read_whole(const ReadFile& read, const std::string& name) {
  LB_ASSIGN_OR_RETURN(const std::string text, read(name));
  return parse_json(text, name);
}

Result<Route> route_of(const std::vector<ListedModule>& list, const std::string& name) {
  Route route;
  const std::string_view first = list.front().kind();
  route.has_words = first == "WordEmbeddings";
  route.is_table = route.has_words || first == "StaticEmbedding" || first == "SparseStaticEmbedding";
  for (const ListedModule& module : list) {
    if (!module.folder.empty() && !is_file_name(module.folder)) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}: '{}' is not a folder of the model", name, printable(module.folder)));
    }
    route.folders.push_back(module.folder.empty() ? "" : module.folder + "/");
  }
  return route;
}

// The routes of the model, one or a router's two, and the files that define them.
Result<std::vector<Route>> read_routes(const Names& files, const ReadFile& read, std::vector<std::string>& lists) {
  const std::string file = "modules.json";
  if (!files.contains(file)) return std::vector{Route{.folders = {""}}};
  lists.push_back(file);
  LB_ASSIGN_OR_RETURN(const Json modules, read_whole(read, file));
  LB_ASSIGN_OR_RETURN(const auto list, read_module_list(modules, file));
  std::vector<Route> routes;
  if (!begins_with_router(list)) {
    LB_ASSIGN_OR_RETURN(routes.emplace_back(), route_of(list, file));
    return routes;
  }
  const std::string& folder = list.front().folder;
  const std::string router_file = fmt::format("{}{}{}", folder, folder.empty() ? "" : "/", kRouterFile);
  lists.push_back(router_file);
  LB_ASSIGN_OR_RETURN(const Json document, read_whole(read, router_file));
  LB_ASSIGN_OR_RETURN(const RouterFile router, read_router(document, folder, router_file));
  for (const TextRole role : {TextRole::kDocument, TextRole::kQuery}) {
    std::vector<ListedModule> whole = router.modules_of(role);
    whole.insert(whole.end(), list.begin() + 1, list.end());
    LB_ASSIGN_OR_RETURN(routes.emplace_back(), route_of(whole, router_file));
  }
  return routes;
}

// The first of `candidates` that exists, or an empty text.
std::string first_of(const Names& files, const std::vector<std::string>& candidates) {
  const auto found = std::ranges::find_if(candidates, [&](const std::string& name) { return files.contains(name); });
  return found == candidates.end() ? std::string() : *found;
}

HasFile has_in(const Names& files, const std::string& folder) {
  return [&files, &folder](std::string_view name) { return files.contains(folder + std::string(name)); };
}

// An ONNX file and the files beside it that contain its tensors; the ONNX file is last.
std::vector<std::string> onnx_with_data(const Names& files, const std::string& onnx) {
  std::vector<std::string> found;
  for (const std::string& file : files) {
    if (file.starts_with(onnx + "_data") || file.starts_with(onnx + ".data")) found.push_back(file);
  }
  found.push_back(onnx);
  return found;
}

// The weights, with the list of their parts, or an ONNX file with the files beside it that contain its tensors.
Result<std::vector<std::string>> weights_of(const Names& files, const std::string& folder, const ReadFile& read,
                                            const std::string& model) {
  const std::string config_name = folder + "config.json";
  LB_ASSIGN_OR_RETURN(const std::string text, read(config_name));
  LB_ASSIGN_OR_RETURN(const Json config, parse_json(text, config_name));
  LB_ASSIGN_OR_RETURN(const std::string type, read_text(config, "model_type", "", config_name));
  const std::string onnx =
      first_of(files, {folder + "onnx/model.onnx", folder + "model.onnx", "onnx/model.onnx", "model.onnx"});
  if (find_architecture(type) != nullptr) {
    const auto read_index = [&](std::string_view name) -> Result<std::optional<Json>> {
      LB_ASSIGN_OR_RETURN(const std::string index, read(folder + std::string(name)));
      LB_ASSIGN_OR_RETURN(Json document, parse_json(index, folder + std::string(name), kWeightsIndexLimits));
      return std::optional(std::move(document));
    };
    LB_ASSIGN_OR_RETURN(const WeightsNames weights,
                        weights_file_names({.has = has_in(files, folder),
                                            .read_index = read_index,
                                            .shown = [&](std::string_view name) { return folder + std::string(name); }},
                                           !onnx.empty()));
    std::vector<std::string> names;
    if (!weights.index.empty()) names.push_back(folder + weights.index);
    for (const std::string& name : weights.files)
      names.push_back(folder + name);
    if (!names.empty()) return names;
  }
  if (onnx.empty()) {
    if (has_weights_files(has_in(files, folder))) {
      return Status(StatusCode::kUnsupported, fmt::format("'{}' is of the type '{}' and has no onnx/model.onnx{}",
                                                          model, printable(type), known_architectures(type)));
    }
    const std::vector<std::string> others(files.begin(), files.end());
    const bool has_others =
        std::ranges::any_of(others, [](const std::string& name) { return name.ends_with(".onnx"); });
    return Status(StatusCode::kUnsupported, fmt::format("'{}' has none of {}, and one of them is needed; {}{}", model,
                                                        kFormsOfWeights, say_onnx_files("it", others),
                                                        has_others ? ": set embedding.onnx_file to one of them" : ""));
  }
  return onnx_with_data(files, onnx);
}

// The files from which the tokenizer is made if there is no tokenizer.json.
Result<FoundTokenizer> tokenizer_of(const Names& files, const std::string& folder, const ReadFile& read,
                                    const std::string& model) {
  const std::string config_name = folder + "config.json";
  if (!files.contains(config_name)) return FoundTokenizer{.missing = "tokenizer.json"};
  LB_ASSIGN_OR_RETURN(const std::string text, read(config_name));
  LB_ASSIGN_OR_RETURN(const Json config, parse_json(text, config_name));
  std::optional<Json> tokenizer_config;
  if (const std::string name = folder + std::string(kTokenizerConfigFile); files.contains(name)) {
    LB_ASSIGN_OR_RETURN(const std::string tokenizer_text, read(name));
    LB_ASSIGN_OR_RETURN(tokenizer_config, parse_json(tokenizer_text, name, kTokenizerConfigLimits));
  }
  auto found = find_vocabulary_files([&](std::string_view name) { return files.contains(folder + std::string(name)); },
                                     config, tokenizer_config, tokenizer_of_network(config));
  if (!found.ok()) return found.status().with_context(core::quoted(model));
  return found;
}

// Returns the files of adapters: the merged one in a folder, or those of tasks in the folders below it.
std::vector<std::string> adapter_files_of(const Names& there, const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& file : there) {
    if (!file.starts_with(folder) || !file.ends_with(kAdapterConfigFile)) continue;
    const std::string place = file.substr(0, file.size() - kAdapterConfigFile.size());
    if (!place.empty() && !place.ends_with('/')) continue;
    // Training checkpoints also contain such files.
    const std::string_view below = std::string_view(place).substr(folder.size());
    const bool is_known = std::ranges::count(below, '/') <= 1 || below.starts_with("adapters/");
    if (!is_known || below.starts_with("checkpoint-")) continue;
    names.push_back(file);
    names.push_back(first_of(there, {place + std::string(kAdapterFile), place + std::string(kAdapterTorchFile)}));
  }
  return names;
}

// The files of a route other than its weights.
Result<std::vector<std::string>> small_files_of(const Route& route, const Names& there, const ReadFile& read,
                                                const std::string& model) {
  const std::string& transformer = route.folders.front();
  // An adapter may lack config.json and a tokenizer, which its base has.
  const bool is_adapter = !route.is_table && there.contains(transformer + std::string(kAdapterConfigFile));
  const std::string words = transformer + std::string(kWordListFile);
  const std::string tokenizer =
      first_of(there, route.has_words ? std::vector{words}
                                      : std::vector{transformer + "tokenizer.json", std::string("tokenizer.json")});
  FoundTokenizer made;
  if (tokenizer.empty() && route.is_table) {
    made.missing = route.has_words ? words : "tokenizer.json";
  } else if (tokenizer.empty() && !(is_adapter && !there.contains(transformer + "config.json"))) {
    LB_ASSIGN_OR_RETURN(made, tokenizer_of(there, transformer, read, model));
  }
  std::string missing;
  if (!route.is_table && !is_adapter && !there.contains(transformer + "config.json"))
    missing = transformer + "config.json";
  if (!made.missing.empty()) missing += (missing.empty() ? "" : " and ") + made.missing;
  if (!missing.empty()) {
    return Status(
        StatusCode::kNotFound,
        fmt::format("'{}' has no {}: is it a sentence-transformers model in the current layout?", model, missing));
  }
  std::vector<std::string> names;
  for (const std::string& folder : route.folders)
    names.push_back(folder + "config.json");
  if (route.has_words) {
    names.insert(names.end(), {transformer + std::string(kWordEmbeddingsFile), tokenizer});
    return names;
  }
  for (const char* name :
       {"sentence_bert_config.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"})
    names.push_back(transformer + name);
  names.push_back(tokenizer);
  for (const std::string& name : made.files)
    names.push_back(transformer + name);
  names.push_back(transformer + std::string(kAddedTokensFile));
  return names;
}

// The weights of a route, those of the network last.
Result<std::vector<std::string>> large_files_of(const Route& route, const Names& there, const ReadFile& read,
                                                const std::string& model) {
  std::vector<std::string> names;
  for (std::size_t i = route.is_table ? 0 : 1; i < route.folders.size(); ++i)
    names.push_back(route.folders[i] + std::string(single_weights_file(has_in(there, route.folders[i]))));
  if (route.is_table) return names;
  for (const OutputKind* const kind : output_kinds()) {
    if (!kind->file_beside.empty()) names.push_back(route.folders.front() + std::string(kind->file_beside));
  }
  for (std::string& name : adapter_files_of(there, route.folders.front()))
    names.push_back(std::move(name));
  if (there.contains(route.folders.front() + std::string(kAdapterConfigFile))) return names;
  LB_ASSIGN_OR_RETURN(const auto weights, weights_of(there, route.folders.front(), read, model));
  names.insert(names.end(), weights.begin(), weights.end());
  return names;
}

// Returns the files of a repository whose only weights are one GGUF file or its pieces, which are a complete model.
Result<std::vector<std::string>> plan_gguf(const std::vector<std::string>& files, const std::string& model) {
  std::vector<std::string> found;
  std::ranges::copy_if(files, std::back_inserter(found), [](const std::string& name) {
    return core::ends_with_in_any_case(name, kGgufSuffix) && name.find('/') == std::string::npos;
  });
  std::ranges::sort(found);
  if (found.size() == 1 || are_gguf_pieces(found)) return found;
  constexpr std::size_t kShownMax = 24;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(found.size(), kShownMax); ++i)
    shown.push_back(core::printable(found[i]));
  return Status(StatusCode::kUnsupported,
                fmt::format("'{}' has its weights in {} GGUF files ({}{}), and none can be chosen by the repository's "
                            "name: download one, and give that file as the model",
                            model, found.size(), fmt::join(shown, ", "), shown.size() < found.size() ? ", …" : ""));
}

}  // namespace

Result<std::vector<std::string>> plan_files(const std::vector<std::string>& files, const ReadFile& read,
                                            const std::string& model, const std::string& onnx_file) {
  const Names there(files.begin(), files.end());
  const auto has = [&](std::string_view end) {
    return std::ranges::any_of(files, [end](const std::string& name) { return name.ends_with(end); });
  };
  const bool has_others = has(".safetensors") || has(".onnx") || has(kTorchFile) || has(kTorchIndexFile);
  const bool has_gguf = std::ranges::any_of(
      files, [](const std::string& name) { return core::ends_with_in_any_case(name, kGgufSuffix); });
  if (has_gguf && !has_others) return plan_gguf(files, model);
  std::vector<std::string> lists;
  LB_ASSIGN_OR_RETURN(const std::vector<Route> routes, read_routes(there, read, lists));
  std::vector<std::string> plan;
  std::vector<std::string> large;
  const auto add = [&there](std::vector<std::string>& to, const std::string& name) {
    if (there.contains(name) && std::ranges::find(to, name) == to.end()) to.push_back(name);
  };
  for (const std::string& list : lists)
    add(plan, list);
  add(plan, "config_sentence_transformers.json");
  add(plan, "README.md");  // names the licence
  for (const Route& route : routes) {
    LB_ASSIGN_OR_RETURN(const auto small, small_files_of(route, there, read, model));
    for (const std::string& name : small)
      add(plan, name);
    // The requested ONNX file replaces the network of the documents' route, which is the first one.
    if (!onnx_file.empty() && &route == &routes.front()) continue;
    LB_ASSIGN_OR_RETURN(const auto weights, large_files_of(route, there, read, model));
    for (const std::string& name : weights)
      add(large, name);
  }
  if (!onnx_file.empty()) {
    if (!stays_inside(onnx_file) || !there.contains(onnx_file)) {
      return Status(StatusCode::kNotFound,
                    fmt::format("embedding.onnx_file is {}, which is not a file of the model; {}",
                                core::quoted(onnx_file), say_onnx_files(core::quoted(model), files)));
    }
    for (const std::string& name : onnx_with_data(there, onnx_file))
      add(large, name);
  }
  for (const std::string& name : large)
    add(plan, name);
  return plan;
}

}  // namespace latebind::embedding::hub
