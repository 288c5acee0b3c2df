// latebind models: lists recommended models, those in the cache, and the supported networks.
#include "app/jobs/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>

#include "app/json_text.h"
#include "cli/commands/command.h"
#include "cli/commands/weights_reference.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/parser.h"
#include "core/text/counted.h"
#include "core/text/one_line.h"
#include "embedding/architectures/architecture.h"
#include "embedding/outputs/output.h"
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

std::string models_for_people(const app::ModelsReport& report) {
  std::string text;
  std::string_view heading;
  for (const app::RecommendedModel& model : app::recommended_models()) {
    const std::string_view of_output = embedding::find_output_kind(model.output)->heading;
    if (heading != of_output) text += fmt::format("{}:\n", heading = of_output);
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
    const std::string licence = core::one_line(app::licence_of(model).text());
    text += fmt::format("  {}  {}{}{}{}\n", core::one_line(model.id), size_text(model.bytes),
                        model.revisions.size() > 1 ? fmt::format(", {} revisions", model.revisions.size()) : "",
                        is_usable ? "" : ", incomplete", licence.empty() ? "" : ", " + licence);
  }
  return text;
}

Exit remove_model(const RemoveArguments& options) {
  const auto removal = app::plan_model_removal(options.model);
  if (!removal.ok()) return fail(removal.status());
  const std::string what =
      fmt::format("{}{}: {}, {}{}", removal->id, removal->commit ? "@" + *removal->commit : "",
                  core::counted(removal->files.size(), "file"), size_text(removal->bytes),
                  removal->kept > 0 ? fmt::format("; keeps {} that other models or revisions use", removal->kept) : "");
  if (!options.yes)
    return misuse("models rm", fmt::format("nothing is removed without --yes; with it, the command removes {}", what));
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
      "The size is that of the files that Latebind downloads. A model's card on the hub is authoritative for its\n"
      "licence and languages. `latebind models` shows which of these models are in the hub's cache, and `latebind\n"
      "models rm NAME` removes one.\n\n"
      "| model | good for | size | numbers | languages | licence |\n"
      "|---|---|---|---|---|---|\n";
  for (const app::RecommendedModel& model : app::recommended_models()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", model.id, model.good_for, size_text(model),
                        model.dimension > 0 ? fmt::format("{}", model.dimension) : "a score", model.languages,
                        model.licence);
  }
  return text + "\n";
}

// The fixed text of docs/models.md, by its chapters.
constexpr std::string_view kThreeResultsText =
    "## Three results of one pass\n\n"
    "A dense embedder with `sparse_linear.pt` or `colbert_linear.pt` beside its weights (bge-m3) has the outputs\n"
    "`sparse` or `multi_vector`, too, and one pass gives all of them (`latebind embed --outputs\n"
    "dense,sparse,multi_vector`, `/latebind/encode`, and `Encoder` in C and Python). A token's weight is the first\n"
    "projection of its vector, if that is positive. A text has the largest weight of each of its tokens, and none for\n"
    "the tokenizer's `cls`, `eos`, `pad` and `unk` tokens. The second projection gives a vector of length 1 for each\n"
    "token but the first; two texts are compared by the mean of the best products. `rerank`, `search --mix` and the\n"
    "server's rerank requests use FlagEmbedding's mixed score of the three, with the weights 0.4, 0.2 and 0.4, or "
    "those\n"
    "of `--mix` and `mix`. Results were compared with FlagEmbedding's formulas for random weights on OpenVINO, ONNX\n"
    "Runtime and `native` (`tests/cli/m3_test.py`). An ONNX file has only the own output.\n\n";
constexpr std::string_view kNetworksNotes =
    "\n"
    "The following are not supported in any network: cross-attention, pruned heads, quantized checkpoints, adapters\n"
    "other than LoRA, and layers of different sizes. Any other model can be given as an ONNX file in its folder:\n"
    "`onnx/model.onnx`, or the file that `--onnx-file` names.\n\n"
    "If `is_causal` is false in `config.json`, each token of `gemma`, `llama`, `mistral`, `qwen2` and `qwen3` attends\n"
    "to all others, as in transformers 5, unless the network has windows; these are then refused. If it is true, an\n"
    "encoder is refused, because transformers then makes it causal only for texts without padding. `t5` and `mt5` are\n"
    "the encoders of their networks; the weights of a decoder beside them are not read.\n\n"
    "Rotary positions may be scaled (`rope_scaling`, `rope_parameters`) by `default`, `dynamic`, `linear`, "
    "`llama3`,\n"
    "`yarn`, and the `ntk` of GTE's published files; other methods are refused. `position_embedding_type` `alibi`\n"
    "turns `bert` into JinaBERT v2, whose feed-forward part is `geglu`. Scaled positions were compared with the\n"
    "evaluator of the tests, `ntk` with the formula of text-embeddings-inference, and JinaBERT v2 with the BERT of\n"
    "`transformers` in its other parts, because `transformers` has neither.\n\n"
    "The norms of decoders, EuroBERT and T5 square numbers, and a square above 65,504 is infinite in f16. Trained\n"
    "weights have not been tried on a device that computes in f16; `latebind verify` compares such a device with\n"
    "another one.\n\n";
constexpr std::string_view kModulesText =
    "## Modules\n\n"
    "Modules are identified by the type in `modules.json`. `mean_sqrt_len_tokens`, `weightedmean`, `Dense` with\n"
    "Identity and with Tanh, `LayerNorm`, `StaticEmbedding` and `WordEmbeddings` were compared with the results of\n"
    "`sentence-transformers` for random weights (`tests/data/modules/make.py`, `tests/data/words/make.py`), and the\n"
    "other modes of pooling with their definitions (`tests/data/tiny-bert/make.py`).\n\n"
    "| module | what |\n"
    "|---|---|\n"
    "| `Transformer` | a network of the list above; first |\n"
    "| `Pooling` | one mode: `cls`, `mean`, `max`, `lasttoken`, `mean_sqrt_len_tokens`, `weightedmean`; with or "
    "without the prompt (`include_prompt`); second |\n"
    "| `StaticEmbedding` | instead of both: the mean of the tokens' vectors; also model2vec's, with `mapping` and "
    "`weights` |\n"
    "| `WordEmbeddings` | instead of `Transformer`, before the `Pooling` `mean`: a vector for each word, with "
    "`WhitespaceTokenizer` |\n"
    "| `Dense` | after pooling, with or without a bias; Identity, Tanh, GELU, ReLU or SiLU; with or without a "
    "residual |\n"
    "| `LayerNorm`, `Dropout` | after pooling; a dropout has no effect |\n"
    "| `Normalize` | last |\n"
    "| `SpladePooling` | second and last: a sparse encoder |\n"
    "| `SparseAutoEncoder` | last, instead of `Normalize`: a sparse encoder |\n"
    "| `SparseStaticEmbedding` | alone: a sparse encoder without a network |\n"
    "| `Router` | first, instead of a network: two routes, each made of the modules above |\n"
    "| `MultiVectorMask` | after `Transformer` and any number of `Dense`: a multi-vector encoder |\n\n"
    "Without a `modules.json`, texts are pooled as in sentence-transformers 6.2. If the first of `architectures` in\n"
    "`config.json` ends with `ForCausalLM` and `is_causal` is neither false nor null, the vector is that of the "
    "last\n"
    "token; otherwise it is the mean. Neither is normalised. A warning, and `latebind inspect` of a bundle, report\n"
    "this, and name the files that are ignored without it: `1_Pooling/`, `sentence_bert_config.json`,\n"
    "`config_sentence_transformers.json`. Each network was compared with the reference\n"
    "(`tests/data/networks/sweep_without_modules.py`).\n\n"
    "If a model was trained for it (Matryoshka), the first numbers of a vector are a usable vector: `latebind embed\n"
    "--dimensions`, or `dimensions` of a call or a request. If the model normalises its vectors, the shorter vector\n"
    "is normalised, too. A model whose `config_sentence_transformers.json` has a `truncate_dim` gives vectors of that\n"
    "length, unless a call asks for another one.\n\n"
    "A text's vector does not depend on the other texts of its batch: the side on which its tokenizer pads\n"
    "(`padding_side`) has no effect. In the reference, positions and the weights of `weightedmean` include the\n"
    "padding, so a text that is padded on the left depends on its batch there.\n\n"
    "Anything that is not in these lists is an error that names it and the nearest supported name.\n\n";
constexpr std::string_view kEncodersText =
    "## Cross-encoders\n\n"
    "Cross-encoders are networks for sequence classification, which give one or more numbers for a pair of texts:\n"
    "`latebind rerank` ranks lines with them. A folder is a cross-encoder if `architectures` in its `config.json`\n"
    "says so (`…ForSequenceClassification`) or, if it has a `modules.json`, if `model_type` in\n"
    "`config_sentence_transformers.json` is `CrossEncoder`. It uses the network's own head, or `Pooling` and a\n"
    "`Dense` that gives `scores`. Scores are those of sentence-transformers' `CrossEncoder.predict`, with "
    "Sigmoid,\n"
    "Tanh or Identity, as the files say. Random weights of each network were compared with it\n"
    "(`tests/data/cross_encoders/make.py`), except for JinaBERT v2 and for `new`, `camembert` and `xlm-roberta`,\n"
    "which share the network of another type. Pairs that are too long are cut as in sentence-transformers, the "
    "longer\n"
    "text first. A network receives token types if it does so in transformers 5: as `model_input_names` says,\n"
    "otherwise as the tokenizer's class says. Other activation functions are refused. A\n"
    "listed network without a known head needs an ONNX file.\n\n"
    "Rerankers that are language models have `LogitScore` after the network: the score is the logit of one token at "
    "the\n"
    "last position, or the difference of two logits. This works with `gemma`, `llama`, `mistral`, `qwen2` and "
    "`qwen3`,\n"
    "whose last matrix may be the word embeddings. Where sentence-transformers uses the folder's chat template\n"
    "(`chat_template.jinja`, or `chat_template` in `tokenizer_config.json`), Latebind does so, too: query and "
    "document\n"
    "become messages, with the same tokens and the same frame around a truncated document. Latebind supports the part "
    "of\n"
    "Jinja that published templates use, and names anything else in an error\n"
    "([decision](decisions/0181-templates-are-rendered-here.md)). The default prompt of any cross-encoder is its\n"
    "instruction, which `--instruct` replaces. Random weights were compared with the reference on OpenVINO, ONNX\n"
    "Runtime and `native` (`tests/data/rerankers/make.py`). A ready ONNX file may have the logits of all tokens, and\n"
    "the input `position_ids`, but no cache. A pair is refused if the query, its instruction and the frame leave no\n"
    "room for the document. A folder with a language model and without `modules.json` is an embedder, unless it names\n"
    "code that scores ([decision](decisions/0186-the-folder-says-how-a-language-model-scores.md)): "
    "`modeling_zeranker`\n"
    "in `auto_map` (zerank-1), or FlagEmbedding's `FlagLLMReranker` in its card (bge-reranker-v2-gemma), whose "
    "question\n"
    "`--instruct` replaces. Both were compared with that code (`tests/data/scoring_code/make.py`).\n\n"
    "## Sparse encoders\n\n"
    "Sparse encoders are networks for masked language modelling whose `modules.json` lists `SpladePooling`. A text\n"
    "gets a weight for each entry of the vocabulary, and most weights are zero (`latebind embed`).\n"
    "Random weights of each network, except for `camembert` and `xlm-roberta`, which share the network of\n"
    "another type, were compared with sentence-transformers' `SparseEncoder` on OpenVINO, ONNX Runtime and `native`\n"
    "(`tests/data/sparse_encoders/make.py`): the indices are the same, and the weights agree within 1e-5. An entry\n"
    "whose number is zero within rounding may be present on one device and absent on another, with an equally small\n"
    "weight. `activation_function` is `relu` or `log1p_relu`, and `pooling_strategy` is `max` or `sum`;\n"
    "`max_active_dims` is applied. An ONNX file gives `logits` [batch, tokens, vocabulary]. `SparseStaticEmbedding`\n"
    "weighs the tokens of a text with a table, without a network and without a device. `SparseAutoEncoder` (CSR)\n"
    "projects a text's vector to many latents, and keeps the `k` largest positive ones, or `max_active_dims`; their\n"
    "indices are not entries of the vocabulary. Its `normalize` is refused, as are tables with negative or non-finite\n"
    "weights or with weights in a JSON file.\n\n"
    "## Routers\n\n"
    "A `Router` has one route for queries and another for documents, and more modules may follow both. Supported "
    "are\n"
    "sparse encoders whose queries are weighed with a table and need no network (`SparseStaticEmbedding`), a table "
    "of\n"
    "vectors for queries and a network for documents, two networks, and one network followed by different modules.\n"
    "`latebind embed --role query` and `--role document` select the route of a text. Without `--role`, a text takes\n"
    "the model's `default_route`, and is refused if the model has none. `search` uses both routes. Vectors were\n"
    "compared with those of sentence-transformers (`tests/data/routers/make.py`). If both routes have a network, "
    "both\n"
    "networks are loaded. Only routers with `SparseStaticEmbedding` can be compiled into a bundle. Routes other "
    "than\n"
    "`query` and `document`, `route_mappings`, cross-encoders, and routes with incompatible vectors are refused.\n\n"
    "## Multi-vector encoders\n\n"
    "Multi-vector encoders use late interaction (ColBERT): a text gets a vector for each of its tokens (`latebind\n"
    "embed`, with `--role query` for queries), and a document's score is the sum, over\n"
    "the query's vectors, of the largest product with a vector of the document (MaxSim: `latebind search` and\n"
    "`latebind rerank`). A folder is a multi-vector encoder in each form that sentence-transformers'\n"
    "`MultiVectorEncoder` loads: its own (`model_type` `MultiVectorEncoder` in "
    "`config_sentence_transformers.json`);\n"
    "PyLate's (`model_type` `ColBERT`, or no `model_type` and a key such as `query_prefix`); or Stanford's\n"
    "(`HF_ColBERT` among the `architectures` of `config.json`, with `artifact.metadata` and the projection as\n"
    "`linear.weight`). Random weights of BERT, DistilBERT, ModernBERT, MPNet and RoBERTa in all forms were compared\n"
    "with it on OpenVINO, ONNX Runtime and `native` (`tests/data/multi_vector_encoders/make.py`): queries and\n"
    "documents have the same number of vectors, and their numbers agree within 1e-5.\n\n"
    "- Queries and documents have separate prompts (a known marker is one token), lengths and masks: tokens without "
    "a\n"
    "  vector (`skiplist_words`; in PyLate's and Stanford's forms, punctuation), or the only ids that have one.\n"
    "- Short queries are expanded (`query_expansion`, `fixed` or `min`), and the added tokens are attended to or "
    "not,\n"
    "  as the files say. Queries keep their length regardless of `embedding.max_tokens`. A query that is padded on\n"
    "  the left cannot be expanded, and is refused.\n"
    "- `similarity_fn_name` `meanmaxsim` divides a score by the number of the query's vectors.\n"
    "- An ONNX file gives the vectors after the projection, [batch, tokens, numbers], which are normalised if the\n"
    "  files say so; an ONNX file of only the network is refused.\n\n"
    "`HierarchicalTokenPooling`, images (ColPali), and a folder without a trained projection are refused.\n\n";
constexpr std::string_view kTokenizerPartsText =
    "## Parts of tokenizers\n\n"
    "Parts are identified by their `type` in `tokenizer.json`; [tokenizer.md](tokenizer.md) describes what is\n"
    "supported in each, and how it was compared.\n\n"
    "| part | types |\n"
    "|---|---|\n";

// The whole of docs/models.md.
std::string models_reference() {
  std::string text =
      "# Models\n\n"
      "A model is a folder in the layout of the hub: `config.json`, the [weights](#weights), `tokenizer.json` (or a\n"
      "[vocabulary](#vocabularies)), and the modules of sentence-transformers. Latebind reads it directly, without an\n"
      "export and without Python. `latebind models --reference` prints this page; `latebind models --networks` prints\n"
      "its lists, with `--json` for programs. [published-models.md](published-models.md) lists 300 published models\n"
      "by name, and says which of them open.\n\n";
  text += recommended_reference();
  text += weights_reference();
  text +=
      "## Networks\n\n"
      "Networks are identified by the `model_type` of `config.json`. Each was compared with the results of\n"
      "`transformers` for the same weights, on OpenVINO, ONNX Runtime and `native`; random weights are made by\n"
      "`tests/data/networks/make.py`. Qualcomm's compiler takes each network completely, without leaving a node to "
      "the\n"
      "CPU, and its emulator's results are close to the reference (`scripts/test --models`). A key of `config.json` "
      "or\n"
      "`sentence_bert_config.json` that changes the results is either supported or an error that names the key.\n\n"
      "| `model_type` | what | compared with the reference on | refused | [cross-encoder](#cross-encoders) | "
      "[sparse](#sparse-encoders) |\n"
      "|---|---|---|---|---|---|\n";
  for (const auto& one : embedding::architectures()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", one.model_type, one.name, one.checked, one.refused,
                        one.read_classifier != nullptr ? "yes" : "no", one.read_vocabulary != nullptr ? "yes" : "no");
  }
  text.append(kNetworksNotes)
      .append(kModulesText)
      .append(kEncodersText)
      .append(kThreeResultsText)
      .append(kTokenizerPartsText);
  for (const auto& part : embedding::known_tokenizer_parts())
    text += fmt::format("| `{}` | `{}` |\n", part.kind, fmt::join(part.types, "`, `"));
  text +=
      "\n"
      "## Vocabularies\n\n"
      "A folder without a `tokenizer.json` needs the following files, by the `tokenizer_class` of\n"
      "`tokenizer_config.json`; [tokenizer.md](tokenizer.md#without-a-tokenizerjson) describes how a tokenizer is "
      "made\n"
      "from them.\n\n"
      "| class | files |\n"
      "|---|---|\n";
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
  Command& app = *program.add_subcommand("models", "Lists recommended models, and those in the hub's cache.");
  app.add_flag("--json", options->json,
               "Prints {recommended: [{model, kind, network, good_for, megabytes, dimension, languages, licence, "
               "cached}], cache: {folder, bytes, models: [{model, bytes, licence: {name, forbids_commerce}, revisions: "
               "[{commit, refs, usable}]}]}}; with --networks {architectures: [{model_type, name, checked, refused, "
               "cross_encoder}], tokenizer: {part: "
               "[type]}}.");
  app.add_flag("--networks", options->networks, "Lists the supported networks and tokenizers instead.");
  app.add_flag("--reference", options->reference, "Prints docs/models.md.");
  auto removing = std::make_shared<RemoveArguments>();
  Command& remove = *app.add_subcommand("rm", "Removes a model from the hub's cache.");
  add_text(remove, "NAME,-m,--model", removing->model, "[ORG/]NAME[@REVISION]",
           "The model, and its branch, tag or commit (default: all of them). ORG may be left out if only one model in "
           "the cache has the name.")
      ->required();
  remove.add_flag("-y,--yes", removing->yes,
                  "Removes the model. Without it, the command only prints what it would remove.");
  remove.add_flag("--json", removing->json, "Prints {model, commit, bytes, files, kept}: what was removed.");
  remove.footer(
      "Files that another model or revision uses stay, and so does everything outside the cache. A model\n"
      "that another process is loading is not removed; a server that has it loaded keeps running with it.");
  app.footer(
      "An unsupported model is an error that names the unsupported part; nothing is approximated.\n"
      "`latebind pull`, and every command that takes a model, downloads one by its name on the hub.\n"
      "\n"
      "Example:\n"
      "  latebind models");
  remove.callback([removing, &chosen] { chosen = [removing] { return remove_model(*removing); }; });
  app.callback([options, &chosen] { chosen = [options] { return models(*options); }; });
}

}  // namespace latebind::cli
