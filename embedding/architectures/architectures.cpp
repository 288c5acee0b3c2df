#include <algorithm>
#include <array>

#include "embedding/architectures/albert.h"
#include "embedding/architectures/architecture.h"
#include "embedding/architectures/bert.h"
#include "embedding/architectures/distilbert.h"
#include "embedding/architectures/modernbert.h"
#include "embedding/architectures/mpnet.h"
#include "embedding/architectures/nomic_bert.h"
#include "embedding/architectures/roberta.h"

namespace latebind::embedding {
namespace {

constexpr std::array kArchitectures{
    Architecture{.model_type = "albert", .weights_file = kSafetensorsFile, .read = read_albert},
    Architecture{.model_type = "bert", .weights_file = kSafetensorsFile, .read = read_bert},
    Architecture{.model_type = "camembert", .weights_file = kSafetensorsFile, .read = read_roberta},
    Architecture{.model_type = "distilbert", .weights_file = kSafetensorsFile, .read = read_distilbert},
    Architecture{.model_type = "electra", .weights_file = kSafetensorsFile, .read = read_electra},
    Architecture{.model_type = "modernbert", .weights_file = kSafetensorsFile, .read = read_modernbert},
    Architecture{.model_type = "mpnet", .weights_file = kSafetensorsFile, .read = read_mpnet},
    Architecture{.model_type = "nomic_bert", .weights_file = kSafetensorsFile, .read = read_nomic_bert},
    Architecture{.model_type = "roberta", .weights_file = kSafetensorsFile, .read = read_roberta},
    Architecture{.model_type = "xlm-roberta", .weights_file = kSafetensorsFile, .read = read_roberta},
};

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

const Architecture* find_architecture(std::string_view model_type) {
  const auto* found = std::ranges::find(kArchitectures, model_type, &Architecture::model_type);
  return found == kArchitectures.end() ? nullptr : found;
}

std::string known_architectures() {
  std::string types;
  for (const Architecture& architecture : kArchitectures) {
    if (!types.empty()) types += ", ";
    types += architecture.model_type;
  }
  return types;
}

}  // namespace latebind::embedding
