// latebind export: the graph that we build, as an ONNX file for other tools.
#include <fmt/format.h>

#include <memory>

#include "cli/parser.h"
#include "core/platform/folders.h"
#include "embedding/graph/build.h"
#include "embedding/model_folder.h"

namespace latebind::cli {
namespace {

struct Options {
  std::string model;
  std::string output;
  bool hidden_states = false;
};

}  // namespace
void add_export(CLI::App&, Action&) {}
}  // namespace latebind::cli
