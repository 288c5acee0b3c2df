#include "cli/terminal/model_argument.h"

#include "cli/terminal/parser.h"

namespace latebind::cli {

void add_model(Command& app, std::string& model, const std::string& what) {
  add_text(app, kModelNames, model, "DIR|ORG/NAME",
           what +
               ": its folder, or its name on the hub, ORG/NAME or ORG/NAME@REVISION, by which it is loaded once and "
               "kept in the hub's cache (`latebind pull --help`). What exists as a folder is one; a short NAME is one "
               "of sentence-transformers/, where a cross-encoder is wanted of cross-encoder/.")
      ->required();
}

}  // namespace latebind::cli
