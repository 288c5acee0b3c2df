#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"
#include "embedding/outputs/dense.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/outputs/output.h"
#include "embedding/outputs/score.h"
#include "embedding/outputs/sparse.h"
#include "embedding/outputs/token_vectors.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// The order matters: a folder's own output is of the first kind that it declares.
constexpr const OutputKind* kKinds[] = {&kMultiVectorOutput, &kSparseOutput, &kScoreOutput, &kDenseOutput,
                                        &kTokenVectorsOutput};

}  // namespace

std::span<const OutputKind* const> output_kinds() {
  return kKinds;
}

Result<const OutputKind*> read_output_kind(const Declaration& given) {
  const ConfigFile& own = given.contents.own;
  std::string type;
  if (given.modules.listed && own.read) {
    LB_ASSIGN_OR_RETURN(type, core::read_text(*own.read, "model_type", "", platform::path_to_utf8(own.file)));
  }
  for (const OutputKind* kind : kKinds) {
    if (kind->is_declared != nullptr && kind->is_declared(given)) return kind;
  }
  constexpr std::array<std::string_view, 5> kTypes{"SentenceTransformer", "CrossEncoder", "SparseEncoder",
                                                   "MultiVectorEncoder", "ColBERT"};
  constexpr std::string_view kListed =
      "supported are SentenceTransformer, which gives one vector for a text, CrossEncoder, SparseEncoder and "
      "MultiVectorEncoder (ColBERT)";
  return unsupported_file(own.file, fmt::format("'model_type' is '{}'{}", core::printable(type),
                                                core::supported_instead(type, kTypes, kListed)));
}

const OutputKind* find_output_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &OutputKind::name);
  return found != std::end(kKinds) ? *found : nullptr;
}

Status no_such_output(std::string_view model, std::string_view wanted, const OutputList& outputs) {
  const auto names = core::words_of(outputs, [](const auto& output) { return output->kind().name; });
  const OutputKind& own = outputs.front()->kind();
  return {StatusCode::kUnsupported,
          fmt::format("{} has no output {}; its outputs are: {}. It {}; a program opens it as {}", model,
                      core::quoted(wanted), fmt::join(names, ", "), own.purpose, own.programs)};
}

}  // namespace latebind::embedding
