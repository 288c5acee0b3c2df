#include "embedding/weights/torch/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/tensor/tensor.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Kind = PickleValue::Kind;

// Sizes stay far from the end of 64 bits, so that products of two can be checked.
constexpr std::uint64_t kElementsMax = std::uint64_t{1} << 48;

std::size_t element_size_of(std::string_view type) {
  if (type == "F64" || type == "I64" || type == "C64") return 8;
  if (type == "F32" || type == "I32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16") return 2;
  return type == "C128" ? 16 : 1;
}

// Returns the items of a tuple or list, or null.
const std::vector<PickleId>* pickled_items(const Pickle& pickle, PickleId id) {
  const PickleValue& value = pickle[id];
  return value.kind == Kind::kTuple || value.kind == Kind::kList ? &value.items : nullptr;
}

std::optional<std::uint64_t> pickled_size(const Pickle& pickle, PickleId id) {
  const PickleValue& value = pickle[id];
  if (value.kind != Kind::kInt || value.number < 0 || static_cast<std::uint64_t>(value.number) > kElementsMax) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(value.number);
}

std::optional<std::vector<std::int64_t>> pickled_sizes(const Pickle& pickle, PickleId id) {
  const auto* const items = pickled_items(pickle, id);
  if (items == nullptr) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (const PickleId item : *items) {
    const auto size = pickled_size(pickle, item);
    if (!size) return std::nullopt;
    sizes.push_back(static_cast<std::int64_t>(*size));
  }
  return sizes;
}

// Returns the arguments of the function that makes the tensor, past those that wrap it as a parameter; null if the
// value is no tensor.
const PickleValue* call_of_tensor(const Pickle& pickle, PickleId id) {
  const PickleValue* value = &pickle[id];
  while (value->kind == Kind::kCall &&
         (value->of == PickleClass::kRebuildParameter || value->of == PickleClass::kRebuildParameterWithState)) {
    const std::vector<PickleId>& arguments = pickle[value->items.front()].items;
    // Arguments were made before their call, so that this ends.
    if (arguments.empty() || arguments.front() >= value->items.front()) return nullptr;
    value = &pickle[arguments.front()];
  }
  return value->kind == Kind::kCall ? value : nullptr;
}

struct FoundStorage {
  std::string key;
  std::uint64_t first = 0;  // where a view of the older format begins
};

Status bad_tensor(std::string_view what) {
  return {StatusCode::kInvalidModel, std::string(what)};
}

// Reads ('storage', class, key, device, elements), and the view of it that the older format may add.
Result<FoundStorage> read_storage(const Pickle& pickle, PickleId id, TorchStorages& storages) {
  const PickleValue& object = pickle[id];
  const auto* const parts = object.kind == Kind::kPersistent ? pickled_items(pickle, object.items.front()) : nullptr;
  if (parts == nullptr || parts->size() < 5 || parts->size() > 6) return bad_tensor("its storage is none of torch's");
  const auto part = [&](std::size_t i) -> const PickleValue& { return pickle[(*parts)[i]]; };
  const auto elements = pickled_size(pickle, (*parts)[4]);
  if (part(0).kind != Kind::kText || part(0).text != "storage" || part(1).kind != Kind::kClass ||
      part(1).of != PickleClass::kStorage || part(2).kind != Kind::kText || !elements) {
    return bad_tensor("its storage is none of torch's");
  }
  TorchStorage storage{
      .type = std::string(part(1).text), .element_size = element_size_of(part(1).text), .elements = *elements};
  FoundStorage found{.key = std::string(part(2).text)};
  const auto [known, is_new] = storages.try_emplace(found.key, storage);
  if (!is_new && (known->second.type != storage.type || known->second.elements != storage.elements)) {
    return bad_tensor(fmt::format("its storage {} is declared in two ways", core::quoted(found.key)));
  }
  if (parts->size() == 6 && part(5).kind != Kind::kNone) {
    const auto* const view = pickled_items(pickle, (*parts)[5]);
    const auto first = view != nullptr && view->size() == 3 ? pickled_size(pickle, (*view)[1]) : std::nullopt;
    if (!first) return bad_tensor("its storage is an unknown view");
    found.first = *first;
  }
  return found;
}

// Checks that all elements are in the storage.
Status check_bounds(const TorchTensor& tensor, const TorchStorage& storage) {
  std::uint64_t count = 1;
  std::uint64_t last = tensor.first;
  bool is_empty = false;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const auto size = static_cast<std::uint64_t>(tensor.shape[i]);
    const auto stride = static_cast<std::uint64_t>(tensor.strides[i]);
    is_empty = is_empty || size == 0;
    if (size > 1 && count > kElementsMax / size) return bad_tensor("it has too many elements");
    count *= std::max<std::uint64_t>(size, 1);
    if (size > 1 && stride > kElementsMax / (size - 1)) return bad_tensor("its strides are too large");
    if (size > 1) last += (size - 1) * stride;
  }
  if (is_empty || last < storage.elements) return {};
  return bad_tensor(fmt::format("its last element is number {} of a storage of {}", last, storage.elements));
}

Result<TorchTensor> read_tensor(const Pickle& pickle, const PickleValue& call, std::string_view name,
                                TorchStorages& storages) {
  const std::vector<PickleId>& arguments = pickle[call.items.front()].items;
  const bool is_first_form = call.of == PickleClass::kRebuildTensor;
  if (is_first_form ? arguments.size() != 4 : arguments.size() < 6 || arguments.size() > 7) {
    return bad_tensor(fmt::format("{} arguments of the function that makes it", arguments.size()));
  }
  LB_ASSIGN_OR_RETURN(const FoundStorage storage, read_storage(pickle, arguments[0], storages));
  const auto first = pickled_size(pickle, arguments[1]);
  auto shape = pickled_sizes(pickle, arguments[2]);
  auto strides = pickled_sizes(pickle, arguments[3]);
  if (!first || !shape || !strides || shape->size() != strides->size())
    return bad_tensor("its shape and strides do not fit");
  if (shape->size() > core::kRankMax) {
    return bad_tensor(fmt::format("{} dimensions, at most {}", shape->size(), core::kRankMax));
  }
  TorchTensor tensor{.name = std::string(name),
                     .storage = storage.key,
                     .first = storage.first + *first,
                     .shape = *std::move(shape),
                     .strides = *std::move(strides)};
  LB_RETURN_IF_ERROR(check_bounds(tensor, storages.find(storage.key)->second));
  return tensor;
}

}  // namespace

bool TorchTensor::is_contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::uint64_t TorchTensor::extent() const {
  std::uint64_t extent = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    extent += static_cast<std::uint64_t>(shape[i] - 1) * static_cast<std::uint64_t>(strides[i]);
  }
  return extent;
}

Result<TorchTensors> find_tensors(const Pickle& pickle) {
  const PickleValue& root = pickle[pickle.root];
  if (root.kind != Kind::kDict) {
    return bad_tensor("it is no dictionary of tensors, as `torch.save(model.state_dict(), file)` writes it");
  }
  TorchTensors found;
  // Also those of tensors that are not read, which the older format has between the others.
  for (PickleId id = 0; id < pickle.values.size(); ++id) {
    if (pickle[id].kind == Kind::kPersistent) LB_RETURN_IF_ERROR(read_storage(pickle, id, found.storages).status());
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const PickleValue& key = pickle[root.items[i]];
    const PickleValue* const call = call_of_tensor(pickle, root.items[i + 1]);
    if (call == nullptr) continue;
    if (key.kind != Kind::kText) return bad_tensor("a tensor without a name");
    if (!names.insert(key.text).second) {
      return bad_tensor(fmt::format("tensor {} occurs twice", core::quoted(key.text)));
    }
    auto tensor = read_tensor(pickle, *call, key.text, found.storages);
    if (!tensor.ok()) return tensor.status().with_context(fmt::format("tensor {}", core::quoted(key.text)));
    found.tensors.push_back(*std::move(tensor));
  }
  return found;
}

}  // namespace latebind::embedding
