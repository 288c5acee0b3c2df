#include "embedding/weights/adapters/adapter_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kPrefix = "base_model.model.";
// The name of the wrapped layer inside PEFT's layer.
constexpr std::string_view kWrapped = ".base_layer.";
// If a file has no pooler, transformers adds one with random weights. It is never used, but an adapter may change it.
constexpr std::string_view kPooler = "pooler.";

struct Role {
  std::string_view end;  // of the tensor's name, behind the module's
  std::string LowRankChange::*tensor;
  bool is_table = false;
};
const Role kRoles[] = {{".lora_A.weight", &LowRankChange::down},
                       {".lora_B.weight", &LowRankChange::up},
                       {".lora_embedding_A", &LowRankChange::down, true},
                       {".lora_embedding_B", &LowRankChange::up, true},
                       {".lora_magnitude_vector", &LowRankChange::lengths},
                       {".lora_magnitude_vector.weight", &LowRankChange::lengths}};

// Finds tensors of the model by the adapter's names. In files of a model with a head, the encoder's tensors have a
// prefix. The adapter and the model may differ in having it.
class NamesOfModel {
 public:
  explicit NamesOfModel(const ModelWeights& weights) : weights_(weights) {
    for (const std::string& name : weights.names()) {
      const auto dot = name.find('.');
      if (dot != std::string::npos) without_prefix_.emplace(name.substr(dot + 1), name);
    }
  }

  [[nodiscard]] std::optional<std::string> find(const std::string& name) const {
    if (weights_.contains(name)) return name;
    const auto [first, last] = without_prefix_.equal_range(name);
    if (first != last && std::next(first) == last) return first->second;
    const std::string shorter = name.substr(name.find('.') + 1);
    if (shorter != name && weights_.contains(shorter)) return shorter;
    return std::nullopt;
  }

 private:
  const ModelWeights& weights_;
  std::multimap<std::string, std::string> without_prefix_;
};

class AdapterReader {
 public:
  AdapterReader(const TensorFile& adapter, const AdapterConfig& config, const ModelWeights& weights)
      : adapter_(adapter), config_(config), names_(weights) {}

  Result<AdapterParts> read() {
    for (const std::string& name : adapter_.names())
      LB_RETURN_IF_ERROR(add(name));
    AdapterParts parts{.replaced = std::move(replaced_)};
    std::set<std::string> changed;
    for (auto& [module, change] : changes_) {
      LB_RETURN_IF_ERROR(complete(module, change));
      if (change.tensor.empty()) continue;
      if (!changed.insert(change.tensor).second) {
        return wrong(
            StatusCode::kInvalidModel, change.down,
            fmt::format("changes '{}', which another module of the adapter changes, too", printable(change.tensor)));
      }
      parts.changes.push_back(std::move(change));
    }
    if (changes_.empty() && parts.replaced.empty()) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}: the adapter has no tensor that changes the model", adapter_.name()));
    }
    return parts;
  }

 private:
  [[nodiscard]] Status wrong(StatusCode code, std::string_view tensor, std::string_view what) const {
    return {code, fmt::format("{} {}", place_of_tensor(adapter_.name(), tensor), what)};
  }

  Status add(const std::string& stored) {
    if (!stored.starts_with(kPrefix)) {
      return wrong(StatusCode::kUnsupported, stored, fmt::format("has a name that does not begin with {}", kPrefix));
    }
    std::string name = stored.substr(kPrefix.size());
    for (const Role& role : kRoles) {
      if (!name.ends_with(role.end)) continue;
      name.resize(name.size() - role.end.size());
      LowRankChange& change = changes_[name];
      if (!(change.*role.tensor).empty()) return wrong(StatusCode::kInvalidModel, stored, "is there in two forms");
      change.*role.tensor = stored;
      if (role.is_table) change.is_table = true;
      return {};
    }
    // Unknown low-rank parts, and changes of single tokens.
    if (name.find("lora_") != name.npos || name.find("trainable_tokens") != name.npos) {
      return wrong(StatusCode::kUnsupported, stored,
                   "is of a kind that is not supported: merge the adapter into the weights (PEFT's merge_and_unload), "
                   "and save the model without it");
    }
    if (const auto at = name.find(kWrapped); at != name.npos) name.erase(at, kWrapped.size() - 1);
    replaced_.push_back({.tensor = names_.find(name).value_or(name), .stored = stored});
    return {};
  }

  // Checks the change of a module, and adds its sizes. Leaves `tensor` empty if the change has no effect.
  Status complete(const std::string& module, LowRankChange& change) const {
    const std::string& one = change.down.empty() ? (change.up.empty() ? change.lengths : change.up) : change.down;
    if (change.down.empty() || change.up.empty())
      return wrong(StatusCode::kInvalidModel, one, "is alone: a change has the two tensors A and B");
    LB_ASSIGN_OR_RETURN(const bool is_target, config_.is_target(module));
    if (!is_target) {
      return {
          StatusCode::kInvalidModel,
          fmt::format("{}: 'target_modules' does not have the module of the tensor '{}', or 'exclude_modules' has it",
                      config_.file, printable(change.down))};
    }
    const auto down = *adapter_.shape_of(change.down);
    const auto up = *adapter_.shape_of(change.up);
    if (down.size() != 2 || up.size() != 2 || down[0] <= 0 || down[1] <= 0 || up[0] <= 0 || up[1] != down[0])
      return wrong(StatusCode::kInvalidModel, change.down, "and its B do not have the shapes [rank,in] and [out,rank]");
    change.rank = static_cast<std::size_t>(down[0]);
    change.in = static_cast<std::size_t>(down[1]);
    change.out = static_cast<std::size_t>(up[0]);
    LB_ASSIGN_OR_RETURN(const std::size_t rank, config_.rank_of(module));
    if (rank != change.rank) {
      return wrong(StatusCode::kInvalidModel, change.down,
                   fmt::format("has rank {}, but by {} it has rank {}", change.rank, config_.file, rank));
    }
    if (config_.is_dora == change.lengths.empty() || (change.is_table && config_.is_dora)) {
      return wrong(change.is_table ? StatusCode::kUnsupported : StatusCode::kInvalidModel, change.down,
                   change.is_table   ? "is of a table of embeddings, where 'use_dora' is not supported"
                   : config_.is_dora ? "has no lora_magnitude_vector, but 'use_dora' is true"
                                     : "has a lora_magnitude_vector, but 'use_dora' is false");
    }
    LB_ASSIGN_OR_RETURN(change.scale, config_.scale_of(module));
    const auto tensor = names_.find(module + ".weight");
    if (!tensor && module.starts_with(kPooler)) return {};
    if (!tensor) {
      return wrong(StatusCode::kInvalidModel, change.down,
                   fmt::format("changes '{}.weight', which the model does not have", printable(module)));
    }
    change.tensor = *tensor;
    return {};
  }

  const TensorFile& adapter_;
  const AdapterConfig& config_;
  const NamesOfModel names_;
  std::map<std::string, LowRankChange> changes_;
  std::vector<ReplacedTensor> replaced_;
};

}  // namespace

Result<AdapterParts> read_adapter_parts(const TensorFile& adapter, const AdapterConfig& config,
                                        const ModelWeights& weights) {
  return AdapterReader(adapter, config, weights).read();
}

}  // namespace latebind::embedding
