#include "cli/terminal/model_argument.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/terminal/parser.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/text/option_text.h"
#include "core/text/quote.h"
#include "embedding/folder/gguf/gguf_model.h"
#include "server/load_model.h"

namespace latebind::cli {

void add_model(Command& app, std::string& model, bool& is_argument, const std::string& what) {
  take_model_from_variable(
      add_text(
          app, kModelNames, model, "DIR|ORG/NAME",
          what +
              ": its folder, or its name on the hub, ORG/NAME or ORG/NAME@REVISION, which is downloaded once into the "
              "hub's cache (`latebind pull --help`). An existing folder takes precedence. A short NAME means "
              "sentence-transformers/NAME, or cross-encoder/NAME if a cross-encoder is needed. If the line names no "
              "model, LATEBIND_MODEL does."))
      ->required()
      ->note_argument(is_argument);
}

Option* take_model_from_variable(Option* option) {
  // The list of models to serve: `NAME=` is only of use there.
  static constexpr const char* kVariable = "LATEBIND_MODEL";
  using Model = std::optional<std::string>;
  return option->variable(kVariable, []() -> core::Result<Model> {
    const auto text = platform::trusted_environment(kVariable);
    if (!text || text->empty()) return Model();
    const auto models = core::list_items(*text);
    if (models.size() != 1) {
      return core::Status(core::StatusCode::kInvalidArgument,
                          "names several models, which `latebind serve` serves; give the MODEL to use here");
    }
    LB_ASSIGN_OR_RETURN(auto argument, server::ModelArgument::parse(std::string(models.front())));
    return Model(std::move(argument.model));
  });
}

// Whether the file begins like a bundle, or begins or is named like a GGUF file, so that it was meant to be the model.
static bool looks_like_a_model(const std::string& file) {
  const auto place = platform::path_from_utf8(file);
  if (embedding::has_gguf_suffix(place) || embedding::is_gguf_file(place)) return true;
  std::ifstream stream(place, std::ios::binary);
  std::array<char, 2> begin{};
  return stream.read(begin.data(), begin.size()) && begin == std::array{'P', 'K'};
}

core::Status as_model_argument(const core::Status& error, const std::string& model, bool is_argument) {
  std::error_code ignored;
  if (!is_argument || error.code() != core::StatusCode::kInvalidModel ||
      !std::filesystem::is_regular_file(platform::path_from_utf8(model), ignored) || looks_like_a_model(model)) {
    return error;
  }
  return core::Status(error.code(), fmt::format("{}; if it is a FILE, the MODEL is missing before it: MODEL {}",
                                                error.message(), core::printable(model)))
      .with_details(std::string(error.details()));
}

}  // namespace latebind::cli
