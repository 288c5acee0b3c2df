// latebind models: lists recommended models, those in the cache, and the supported networks.
#include "app/jobs/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>

#include "app/json_text.h"
#include "cli/commands/command.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "core/text/counted.h"
#include "core/text/one_line.h"
#include "embedding/architectures/architecture.h"
#include "embedding/tokenizer/tokenizer_file.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::cli {
namespace {

struct ModelsArguments {
  bool json = false;
  bool networks = false;
  bool reference = false;
};

struct RemoveArguments {
  std::string model;
  bool yes = false;
  bool json = false;
};

std::string size_text(std::uint64_t bytes) {
  constexpr double kMega = 1e6;
  constexpr double kGiga = 1e9;
  const auto count = static_cast<double>(bytes);
  return count < kGiga ? fmt::format("{:.0f} MB", count / kMega) : fmt::format("{:.1f} GB", count / kGiga);
}

std::string size_text(const app::RecommendedModel& model) {
  return size_text(std::uint64_t{model.megabytes} * 1'000'000);
}

std::string_view heading_of(embedding::EncoderKind kind) {
  switch (kind) {
    case embedding::EncoderKind::kEmbedder:
      return "vectors of texts (latebind embed, search, serve)";
    case embedding::EncoderKind::kMultiVectorEncoder:
      return "vectors of tokens (latebind search, rerank)";
    case embedding::EncoderKind::kCrossEncoder:
      return "scores for a query and a text (latebind rerank, search --rerank)";
    case embedding::EncoderKind::kSparseEncoder:
      break;
  }
  return "weights of terms (latebind search)";
}

std::string models_for_people(const app::ModelsReport& report) {
  std::string text;
  std::string_view heading;
  for (const app::RecommendedModel& model : app::recommended_models()) {
    if (heading != heading_of(model.kind)) text += fmt::format("{}:\n", heading = heading_of(model.kind));
    const std::string dimension = model.dimension > 0 ? fmt::format("{} numbers, ", model.dimension) : "";
    text +=
        fmt::format("  {}{}\n      {}\n      {}, {}{}, {}\n", model.id, report.has(model.id) ? "  (in the cache)" : "",
                    model.good_for, size_text(model), dimension, model.languages, model.licence);
  }
  std::uint64_t bytes = 0;
  for (const auto& model : report.cached)
    bytes += model.bytes;
  text += fmt::format("in the cache, {}: {}, {}\n", core::one_line(report.cache_folder),
                      core::counted(report.cached.size(), "model"), size_text(bytes));
  for (const auto& model : report.cached) {
    const bool is_usable = std::ranges::any_of(model.revisions, &embedding::hub::CachedRevision::is_usable);
    text += fmt::format("  {}  {}{}{}\n", core::one_line(model.id), size_text(model.bytes),
                        model.revisions.size() > 1 ? fmt::format(", {} revisions", model.revisions.size()) : "",
                        is_usable ? "" : ", incomplete");
  }
  return text;
}

Exit remove_model(const RemoveArguments& options) {
  const auto removal = app::plan_model_removal(options.model);
  if (!removal.ok()) return fail(removal.status());
  const std::string what = fmt::format(
      "{}{}: {}, {}{}", removal->id, removal->commit ? "@" + *removal->commit : "",
      core::counted(removal->files.size(), "file"), size_text(removal->bytes),
      removal->kept > 0 ? fmt::format("; {} stay, which other models or revisions use", removal->kept) : "");
  if (!options.yes) return misuse("models rm", fmt::format("nothing is removed without --yes; it removes {}", what));
  if (const auto removed = embedding::hub::remove(*removal); !removed.ok()) return fail(removed);
  const auto printed = print(options.json ? app::to_text(app::to_json(*removal)) : fmt::format("removed {}\n", what));
  return printed.ok() ? Exit::kGood : fail(printed);
}

std::string networks_for_people() {
  std::size_t width = 0;
  for (const auto& one : embedding::architectures())
    width = std::max(width, one.model_type.size());
  std::string text = "networks, by model_type of config.json, compared with transformers on:\n";
  for (const auto& one : embedding::architectures()) {
    text += fmt::format("  {:<{}}  {}: {}{}{}\n", one.model_type, width, one.name, one.checked,
                        one.refused.empty() ? "" : "; refused: ", one.refused);
  }
  text += "parts of tokenizer.json:\n";
  for (const auto& part : embedding::known_tokenizer_parts())
    text += fmt::format("  {:<14}  {}\n", part.kind, fmt::join(part.types, ", "));
  return text;
}

std::string networks_for_programs() {
  app::Json json;
  json["architectures"] = app::Json::array();
  for (const auto& one : embedding::architectures()) {
    app::Json entry;
    entry["model_type"] = one.model_type;
    entry["name"] = one.name;
    entry["checked"] = one.checked;
    entry["refused"] = one.refused;
    entry["cross_encoder"] = one.read_classifier != nullptr;
    entry["sparse_encoder"] = one.read_vocabulary != nullptr;
    json["architectures"].push_back(std::move(entry));
  }
  json["tokenizer"] = app::Json::object();
  for (const auto& part : embedding::known_tokenizer_parts())
    json["tokenizer"][std::string(part.kind)] = part.types;
  return app::to_text(json);
}

std::string recommended_reference() {
  std::string text =
      "## Models to begin with\n\n"
      "The size is that of the files that Latebind loads. A model's card on the hub has the last word on its licence "
      "and languages.\n"
      "`latebind models` shows which of these models the hub's cache has, and `latebind models rm NAME` removes "
      "one.\n\n"
      "| model | good for | size | numbers | languages | licence |\n|---|---|---|---|---|---|\n";
  for (const app::RecommendedModel& model : app::recommended_models()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", model.id, model.good_for, size_text(model),
                        model.dimension > 0 ? fmt::format("{}", model.dimension) : "a score", model.languages,
                        model.licence);
  }
  return text + "\n";
}

// The whole of docs/models.md.
std::string models_reference() {
  std::string text =
      "# Models\n\n"
      "A model is a folder as it is on the hub: `config.json`, `model.safetensors` (or its pieces, listed in\n"
      "`model.safetensors.index.json`), `tokenizer.json` (or a [vocabulary](#vocabularies)), and the modules of\n"
      "sentence-transformers. Latebind reads it as it is, without an export and without Python. This page is what "
      "`latebind models --reference` prints;\n"
      "`latebind models --networks` prints the lists for reading, with `--json` for programs.\n\n";
  text += recommended_reference();
  text +=
      "## Networks\n\n"
      "By the `model_type` of `config.json`. Each was compared with what `transformers` computes of the same weights, "
      "on\n"
      "OpenVINO, ONNX Runtime and `native`; random weights are those of `tests/data/networks/make.py`. Each goes "
      "whole\n"
      "through Qualcomm's compiler, with no node left to the processor, and stays near in its emulation\n"
      "(`scripts/test --models`). A key of `config.json` or `sentence_bert_config.json` that changes\n"
      "the numbers is read, or refused by its name.\n\n"
      "| `model_type` | what | compared with the reference on | refused | [cross-encoder](#cross-encoders) | "
      "[sparse](#sparse-encoders) |\n"
      "|---|---|---|---|---|---|\n";
  for (const auto& one : embedding::architectures()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", one.model_type, one.name, one.checked, one.refused,
                        one.read_classifier != nullptr ? "yes" : "no", one.read_vocabulary != nullptr ? "yes" : "no");
  }
  text +=
      "\nRefused of all: cross-attention, pruned heads, quantized checkpoints, adapters (LoRA), layers with sizes of "
      "their\n"
      "own. Any other model can be given as a ready ONNX file in its folder: `onnx/model.onnx`, or the one that\n"
      "`--onnx-file` names.\n\n"
      "`is_causal` false in `config.json` lets each token of `qwen3` see all others, as in transformers 5; true is "
      "refused\n"
      "of the encoders, which transformers then makes causal for texts without padding alone.\n\n"
      "Rotary positions may be scaled (`rope_scaling`, `rope_parameters`): `default`, `dynamic`, `linear`, `llama3`,\n"
      "`yarn`, and `ntk` of GTE's published files; others are refused. `position_embedding_type` `alibi` makes `bert`\n"
      "JinaBERT v2, whose feed-forward part is `geglu`. Scaled positions were compared with the evaluator of the\n"
      "tests, `ntk` with the formula of text-embeddings-inference and JinaBERT v2 with `transformers`' BERT in other\n"
      "parts, since `transformers` has neither.\n\n"
      "The norms of `gemma3_text` and `qwen3` square numbers, and a square above 65,504 is infinite in f16: trained\n"
      "weights were not tried on a device that computes in it. `latebind verify` compares one with another device.\n\n"
      "## Modules\n\n"
      "By the type in `modules.json`. `mean_sqrt_len_tokens`, `weightedmean`, `Dense` with Identity and with Tanh, "
      "and\n"
      "`LayerNorm`, and `StaticEmbedding`, were compared with what `sentence-transformers` computes of random weights\n"
      "(`tests/data/modules/make.py`), the other modes of pooling with their definition\n"
      "(`tests/data/tiny-bert/make.py`).\n\n"
      "| module | what |\n|---|---|\n"
      "| `Transformer` | a network of the list above, first |\n"
      "| `Pooling` | one mode, second: `cls`, `mean`, `max`, `lasttoken`, `mean_sqrt_len_tokens`, `weightedmean`; "
      "with a prompt or without (`include_prompt`) |\n"
      "| `StaticEmbedding` | instead of both: the mean of the tokens' vectors; of model2vec with "
      "`mapping` and `weights`, too |\n"
      "| `Dense` | behind it, with or without a bias; Identity, Tanh, GELU, ReLU or SiLU; with or without a "
      "residual |\n"
      "| `LayerNorm`, `Dropout` | behind it; a dropout does nothing |\n"
      "| `Normalize` | last |\n"
      "| `SpladePooling` | second, alone: a sparse encoder |\n"
      "| `SparseStaticEmbedding` | alone: a sparse encoder without a network |\n"
      "| `Router` | first, instead of a network: to two ways of the above |\n"
      "| `MultiVectorMask` | behind `Transformer` and any of `Dense`: a multi-vector encoder |\n\n"
      "Without a `modules.json` texts are pooled as sentence-transformers 6.2 does it: the vector of the last token "
      "where\n"
      "the first of `architectures` in `config.json` ends with `ForCausalLM` and `is_causal` is neither false nor "
      "null, "
      "else the\n"
      "mean, both not normalized. A warning, and `latebind inspect` of a bundle, say so, and which files are not read\n"
      "without it: `1_Pooling/`, `sentence_bert_config.json`, `config_sentence_transformers.json`. Each network was "
      "compared\n"
      "with the reference (`tests/data/networks/sweep_without_modules.py`).\n\n"
      "Of models that were trained for it (Matryoshka), the first numbers of a vector are one: `latebind embed\n"
      "--dimensions`, `dimensions` of a call or a request. Where the model gives length 1, the shorter vector gets "
      "it,\n"
      "too.\n\n"
      "A text has the vector that it has alone: on which side its tokenizer pads (`padding_side`) changes nothing. In "
      "the\n"
      "reference positions and the weights of `weightedmean` count from the padding on, so that there a text padded on "
      "the\n"
      "left depends on its batch.\n\n"
      "What is not in these lists is refused by its name, with the nearest name that works.\n\n"
      "## Cross-encoders\n\n"
      "Networks for sequence classification, which give one number or several for two texts together: `latebind "
      "rerank`\n"
      "ranks lines by them. A folder is one by `architectures` in its `config.json` (`…ForSequenceClassification`), "
      "or,\n"
      "where it has a `modules.json`, by `model_type` `CrossEncoder` in `config_sentence_transformers.json`: with the\n"
      "network's own head, or with `Pooling` and a `Dense` that gives `scores`. Scores are those of "
      "sentence-transformers'\n"
      "`CrossEncoder.predict`, by Sigmoid or Identity, as the files say; random weights of each network were\n"
      "compared with it (`tests/data/cross_encoders/make.py`), but not of JinaBERT v2, nor of `new`, `camembert` and\n"
      "`xlm-roberta`, which are others' networks. Texts that are too long together are cut as there, the longer one "
      "first.\n"
      "A token's type is told to a network where transformers 5 does: by `model_input_names`, else by the class of "
      "the\n"
      "tokenizer. Refused: `LogitScore` (rerankers that are language models), other functions, default prompts. A\n"
      "network of the list without a known head needs a ready ONNX file.\n\n"
      "## Sparse encoders\n\n"
      "Networks for masked language modelling whose `modules.json` lists `SpladePooling`: a text gets a weight for\n"
      "each entry of the vocabulary, most of them zero (`latebind embed --output-format sparse`). Random weights of\n"
      "each network, but not of `camembert` and `xlm-roberta`, which are others' networks, were compared with\n"
      "sentence-transformers' `SparseEncoder` on OpenVINO, ONNX Runtime and `native`\n"
      "(`tests/data/sparse_encoders/make.py`): the same indices, and weights within 1e-5. An entry whose number is\n"
      "within the rounding of zero may be there on one device and not on another, with a weight as small.\n"
      "`activation_function` is `relu` or `log1p_relu`, `pooling_strategy` `max` or `sum`; a `max_active_dims` is "
      "obeyed. A\n"
      "ready ONNX file gives `logits` [batch, tokens, vocabulary]. `SparseStaticEmbedding` weighs the tokens of a text "
      "by a\n"
      "table, without a network and without a device. Refused: `SparseAutoEncoder`, weights that are negative or not "
      "finite,\n"
      "and weights from a JSON file.\n"
      "\n"
      "## Routers\n"
      "\n"
      "A `Router` has one way for queries and another for documents, behind which more modules may follow: sparse "
      "encoders\n"
      "whose queries are weighed by a table and need no network (`SparseStaticEmbedding`), a table of vectors for "
      "queries and\n"
      "a network for documents, two networks, or one with different modules behind it. `latebind embed --role query` "
      "and\n"
      "`--role document` say which way a text takes; without, it takes the model's `default_route`, and is refused "
      "where it\n"
      "has none. `search` takes both. Vectors were compared with sentence-transformers' "
      "(`tests/data/routers/make.py`). Where\n"
      "both ways have a network, two are loaded. Of routers, those with `SparseStaticEmbedding` alone can be compiled "
      "into\n"
      "a bundle. Refused: routes other than\n"
      "`query` and `document`, `route_mappings`, cross-encoders, and ways whose vectors do not go together.\n"
      "\n"
      "## Multi-vector encoders\n\n"
      "Late interaction (ColBERT): a text gets a vector for each of its tokens (`latebind embed --output-format\n"
      "multi-vector`, with `--role query` for queries), and a document answers a query by the sum of the query's "
      "best\n"
      "products (MaxSim: `latebind search` and `latebind rerank`). A folder is one in each form that\n"
      "sentence-transformers' `MultiVectorEncoder` loads: its own (`model_type` `MultiVectorEncoder` in\n"
      "`config_sentence_transformers.json`); PyLate's (`model_type` `ColBERT`, or none and a key such as "
      "`query_prefix`);\n"
      "or Stanford's (`HF_ColBERT` among the `architectures` of `config.json`, with `artifact.metadata` and the\n"
      "projection as `linear.weight`). Random weights of BERT, DistilBERT, ModernBERT, MPNet and RoBERTa in all "
      "forms were\n"
      "compared with it on OpenVINO, ONNX Runtime and `native` (`tests/data/multi_vector_encoders/make.py`): as many\n"
      "vectors, and numbers within 1e-5, of queries and documents.\n\n"
      "- Queries and documents have prompts (a known marker is one token), lengths and masks of their own: tokens\n"
      "  that are left out (`skiplist_words`; PyLate and Stanford mean punctuation), or ids that alone have a vector.\n"
      "- Short queries are filled up (`query_expansion`, `fixed` or `min`), and those tokens are attended to or not,\n"
      "  as the files say. They keep their length, whatever `embedding.max_tokens` says. A text that is padded on the\n"
      "  left cannot be filled up, and is refused.\n"
      "- `similarity_fn_name` `meanmaxsim` divides a score by the number of the query's vectors.\n"
      "- A ready ONNX file gives the vectors behind the projection, [batch, tokens, numbers], which get length 1 where "
      "the\n"
      "  files say so; one of the network alone is refused.\n\n"
      "Refused: `HierarchicalTokenPooling`, images (ColPali), and a folder without a trained projection.\n\n"
      "## Parts of tokenizers\n\n"
      "By their `type` in `tokenizer.json`; [what of each, and how it was compared](tokenizer.md).\n\n"
      "| part | types |\n|---|---|\n";
  for (const auto& part : embedding::known_tokenizer_parts())
    text += fmt::format("| `{}` | `{}` |\n", part.kind, fmt::join(part.types, "`, `"));
  text +=
      "\n## Vocabularies\n\n"
      "Of a folder without a `tokenizer.json`, by the `tokenizer_class` of `tokenizer_config.json`;\n"
      "[how one is made of them](tokenizer.md#without-a-tokenizerjson).\n\n"
      "| class | files |\n|---|---|\n";
  for (const embedding::TokenizerClass& one : embedding::known_tokenizer_classes()) {
    text += fmt::format("| `{}` | `{}`{} |\n", one.name, one.vocabulary_file,
                        one.merges_file.empty() ? std::string() : fmt::format(", `{}`", one.merges_file));
  }
  return text;
}

Exit models(const ModelsArguments& options) {
  std::string text;
  if (options.reference) {
    text = models_reference();
  } else if (options.networks) {
    text = options.json ? networks_for_programs() : networks_for_people();
  } else {
    const auto report = app::list_models();
    if (!report.ok()) return fail(report.status());
    text = options.json ? app::to_text(app::to_json(*report)) : models_for_people(*report);
  }
  const auto printed = print(text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_models(Command& program, Action& chosen) {
  auto options = std::make_shared<ModelsArguments>();
  Command& app = *program.add_subcommand("models", "Lists models to begin with, and those in the hub's cache.");
  app.add_flag("--json", options->json,
               "Prints {recommended: [{model, kind, network, good_for, megabytes, dimension, languages, licence, "
               "cached}], cache: {folder, bytes, models: [{model, bytes, revisions: [{commit, refs, usable}]}]}}; with "
               "--networks {architectures: [{model_type, name, checked, refused, cross_encoder}], tokenizer: {part: "
               "[type]}}.");
  app.add_flag("--networks", options->networks, "Lists the kinds of networks and tokenizers that are known instead.");
  app.add_flag("--reference", options->reference, "Prints docs/models.md.");
  auto removing = std::make_shared<RemoveArguments>();
  Command& remove = *app.add_subcommand("rm", "Removes a model from the hub's cache.");
  add_text(remove, "NAME,-m,--model", removing->model, "[ORG/]NAME[@REVISION]",
           "The model, and which branch, tag or commit of it (default: all of them). ORG may be left out where one "
           "model in the cache has the name.")
      ->required();
  remove.add_flag("-y,--yes", removing->yes,
                  "Removes the model. Without this option the command only says what it would remove.");
  remove.add_flag("--json", removing->json, "Prints {model, commit, bytes, files, kept}: what was removed.");
  remove.footer(
      "What another model or revision uses stays, and so does everything outside the cache. A model that\n"
      "another process is loading is not removed; a server that has it loaded goes on with it.");
  app.footer(
      "A model of another kind is refused by name when it is opened, never approximated. `latebind pull`\n"
      "and every command that takes a model load one by its name on the hub.\n\n"
      "Example:\n"
      "  latebind models");
  remove.callback([removing, &chosen] { chosen = [removing] { return remove_model(*removing); }; });
  app.callback([options, &chosen] { chosen = [options] { return models(*options); }; });
}

}  // namespace latebind::cli
