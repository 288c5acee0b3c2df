// latebind tokens: prints the ids that a model's tokenizer makes of texts, for calling the model without Latebind.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "app/model_source.h"
#include "cli/data/text_reader.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/client.h"
#include "cli/terminal/embedder_options.h"
#include "cli/terminal/model_argument.h"
#include "cli/terminal/parser.h"
#include "core/text/format_to.h"
#include "embedding/embedder.h"
#include "embedding/folder/model_folder.h"
#include "embedding/hub/content_check.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/inputs/token_table.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using embedding::Tokenizer;

constexpr std::int64_t kTokensMax = 1 << 20;

struct TokensArguments {
  std::string model;
  bool model_is_argument = false;
  SettingFlags flags{};
  TextSource source{};
  std::size_t max_tokens = 0;
  PromptArguments prompt{};
  bool offsets = false;
};

Status print_all(const Tokenizer& tokenizer, const embedding::TokenLimits& limits, bool with_offsets,
                 TextReader& reader, ByteSink& sink) {
  if (with_offsets) LB_RETURN_IF_ERROR(tokenizer.gives_offsets());
  TextRecord record;
  embedding::TokenTable table;
  std::vector<std::int32_t> of_offsets;
  std::vector<embedding::TokenOffsets> offsets;
  std::string line;
  while (true) {
    LB_ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return sink.finish();
    offsets.clear();
    table.clear();
    line.clear();
    LB_RETURN_IF_ERROR(table.add(tokenizer, limits, record.text));
    const auto ids = table.ids(0);
    if (with_offsets) {
      of_offsets.clear();
      LB_RETURN_IF_ERROR(tokenizer.encode_with_offsets(limits.prompt + record.text, limits.max_tokens,
                                                       Tokenizer::Cut::kEnd, of_offsets, offsets));
    }
    offsets.resize(ids.size());  // tokens that fill up a query have no text
    for (std::size_t i = 0; i < ids.size(); ++i) {
      fmt::format_to(std::back_inserter(line), "{}{}", line.empty() ? "" : " ", ids[i]);
      if (with_offsets) fmt::format_to(std::back_inserter(line), ":{}:{}", offsets[i].begin, offsets[i].end);
    }
    LB_RETURN_IF_ERROR(sink.write(line + "\n"));
  }
}

Exit tokens(const TokensArguments& options) {
  const auto settings = options.flags.effective();
  if (!settings.ok()) return misuse("tokens", settings.status().message());
  const std::string& onnx_file = settings->values().onnx_file;
  auto reader = open_texts(options.source, TextOption::kText);
  if (!reader.ok()) return fail(reader.status());
  const auto place = app::find_model(options.model, onnx_file, TerminalClient().client());
  if (!place.ok()) return fail(place.status());
  const auto folder = app::open_folder(*place, onnx_file);
  if (!folder.ok()) return fail(as_model_argument(folder.status(), options.model, options.model_is_argument));
  const auto route = folder->route_for(options.prompt.role);
  if (!route.ok()) return misuse("tokens", route.status().message());
  const auto tokenizer = (*route)->open_tokenizer();
  if (!tokenizer.ok()) return fail(embedding::hub::with_damage(tokenizer.status(), *place));
  const auto of_texts = embedding::text_limits(**route, *tokenizer, options.max_tokens);
  if (!of_texts.ok()) return fail(of_texts.status());
  const auto limits =
      of_texts->of_call({.role = options.prompt.role, .prompt = options.prompt.choice()}, (*route)->input.prompts);
  if (!limits.ok()) return fail(limits.status());
  const auto sink = open_sink("");
  if (!sink.ok()) return fail(sink.status());
  const auto printed = print_all(*tokenizer, *limits, options.offsets, *reader, **sink);
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace

void add_tokens(Command& program, Action& chosen) {
  auto options = std::make_shared<TokensArguments>();
  Command& app = *program.add_subcommand("tokens", "Prints the token ids of texts, one line per text.");
  add_model(app, options->model, options->model_is_argument, "A sentence-transformers model");
  options->flags.add_to(app, {}, {"embedding.onnx_file"});
  add_texts(app, "--text", options->source.texts, "TEXT",
            "A text to read before those of files. May be given several times (default: none).");
  add_text_source(app, options->source, TextIds::kDropped);
  add_integer(app, "--max-tokens", options->max_tokens, 1, kTokensMax,
              "Largest number of tokens of a text, including special tokens (default: the model's limit).");
  options->prompt.add_to(app, "every text");
  options->prompt.add_role_to(app);
  app.add_flag(
      "--offsets", options->offsets,
      "Also prints where each token is in its text, as ID:BEGIN:END in bytes; 0:0 for special tokens around it.");
  app.add_option("FILE", options->source.files,
                 "Text files, read one after the other; - is stdin (default: stdin if no --text is given).");
  app.footer(
      "The ids are those that `latebind embed` uses, including special tokens, separated by spaces. They\n"
      "are for programs that run the model themselves, such as a .pte in ExecuTorch. The command needs\n"
      "no vendor library.\n"
      "\n"
      "Example:\n"
      "  echo 'The cat sleeps.' | latebind tokens all-MiniLM-L6-v2");
  app.callback([options, &chosen] { chosen = [options] { return tokens(*options); }; });
}

}  // namespace latebind::cli
