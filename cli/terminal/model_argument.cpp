#include "cli/terminal/model_argument.h"

#include "cli/terminal/parser.h"

namespace latebind::cli {

void add_model(Command& app, std::string& model, const std::string& what) {
  add_text(app, kModelNames, model, "DIR|ORG/NAME",
           what +
               ": its folder, or its name on the hub, ORG/NAME or ORG/NAME@REVISION, which is downloaded once into the "
               "hub's cache (`latebind pull --help`). An existing folder takes precedence. A short NAME means "
               "sentence-transformers/NAME, or cross-encoder/NAME if a cross-encoder is needed.")
      ->required();
}

}  // namespace latebind::cli
