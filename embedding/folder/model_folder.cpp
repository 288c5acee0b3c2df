#include "embedding/folder/model_folder.h"

#include <fmt/format.h>

#include "core/text/quote.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Result;

namespace {

Result<Modules> modules_for(const ModelFiles& files, TextRole role) {
  LB_ASSIGN_OR_RETURN(const ConfigFile own,
                      read_config_file(files, files.place() / "config_sentence_transformers.json"));
  LB_ASSIGN_OR_RETURN(const auto config, read_object(files, files.place() / "config.json"));
  return read_modules(files, own, config, role);
}

// Reads the route for queries.
Result<Specification> read_queries(const ModelFiles& files, const Modules& of_documents, const Specification& documents,
                                   const FolderOptions& options) {
  LB_ASSIGN_OR_RETURN(const Modules modules, modules_for(files, TextRole::kQuery));
  const std::filesystem::path& file = of_documents.files.front();
  // The requested ONNX file belongs to the documents' network.
  if (!options.onnx_file.empty() && !modules.is_term_table) {
    return unsupported_file(file, fmt::format("the ONNX file '{}' with a router to two networks is not supported",
                                              core::printable(options.onnx_file)));
  }
  LB_ASSIGN_OR_RETURN(Specification queries, read_specification(files, modules, {}));
  if (&queries.kind() != &documents.kind()) {
    return unsupported_file(file, "its two ways give different kinds of vectors");
  }
  const auto& table = queries.network.term_table;
  const auto& network = documents.network.network;
  if (table != nullptr && network != nullptr && table->size() > network->vocabulary_size()) {
    return invalid_file(*queries.network.term_table_file,
                        fmt::format("'weight' has {} numbers, but the documents' vocabulary has {} entries",
                                    table->size(), network->vocabulary_size()));
  }
  return queries;
}

}  // namespace

Result<ModelFolder> ModelFolder::open(const std::filesystem::path& given, const FolderOptions& options) {
  LB_ASSIGN_OR_RETURN(const auto files, ModelFiles::open(given));
  return of(files, options);
}

Result<ModelFolder> ModelFolder::of(const ModelFiles& files, const FolderOptions& options) {
  auto opened = read(files, options);
  if (!opened.ok()) return files.in_its_terms(opened.status());
  return opened;
}

Result<ModelFolder> ModelFolder::read(const ModelFiles& files, const FolderOptions& options) {
  LB_ASSIGN_OR_RETURN(const Modules modules, modules_for(files, TextRole::kDocument));
  LB_ASSIGN_OR_RETURN(Specification documents, read_specification(files, modules, options));
  if (!modules.router) return ModelFolder(std::move(documents));
  LB_ASSIGN_OR_RETURN(Specification queries, read_queries(files, modules, documents, options));
  return ModelFolder({std::move(documents), std::move(queries), modules.router->otherwise});
}

core::Json ModelFolder::describe() const {
  if (!has_routes()) return documents().describe();
  return {{"name", name()}, {"routes", {{"query", queries()->describe()}, {"document", documents().describe()}}}};
}

}  // namespace latebind::embedding
