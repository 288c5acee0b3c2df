#include "kit/raw/raw_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "kit/check.h"
#include "kit/raw/kept.h"

namespace latebind::kit {
namespace {

constexpr std::size_t kEdge = 256;
constexpr auto kEdgeByte = std::byte{0x5C};
constexpr int kGrowthByte = 0xA5;

// Makes a struct that is `growth` bytes longer than this contract's.
template <class T>
T* grown(std::unique_ptr<std::byte[]>& memory, std::size_t growth) {
  memory = std::make_unique<std::byte[]>(sizeof(T) + growth);
  std::memset(memory.get() + sizeof(T), kGrowthByte, growth);
  auto* const made = reinterpret_cast<T*>(memory.get());
  made->struct_size = sizeof(T) + growth;
  return made;
}

// Writes the numbers as elements of the type. Throws std::logic_error for a type that no graph has as an input.
void write_elements(core::ElementType type, const std::vector<double>& values, std::byte* to) {
  for (const double value : values) {
    if (type == core::ElementType::kF32) {
      const auto number = static_cast<float>(value);
      std::memcpy(to, &number, sizeof number);
    } else if (type == core::ElementType::kI64) {
      const auto number = static_cast<std::int64_t>(value);
      std::memcpy(to, &number, sizeof number);
    } else {
      throw std::logic_error("an input of an unexpected type");
    }
    to += core::size_of(type);
  }
}

}  // namespace

RawInputs::RawInputs(const std::vector<core::TensorInfo>& infos, const Inputs& values, std::size_t growth) {
  for (const core::TensorInfo& info : infos) {
    const Array& array = values.at(info.name);
    Tensor& tensor = tensors_.emplace_back();
    tensor.name = info.name;
    tensor.dims = array.shape;
    const std::size_t element = core::size_of(info.type);
    const std::size_t bytes = array.values.size() * element;
    // Memory from `new` is aligned to 16 bytes; this is aligned for the type and no more.
    tensor.memory = std::make_unique<std::byte[]>(bytes + element);
    tensor.data = tensor.memory.get() + element;
    write_elements(info.type, array.values, tensor.data);
    tensor.original.assign(tensor.data, tensor.data + bytes);
    auto* const given = grown<lbb_tensor>(tensor.given, growth);
    given->type = static_cast<std::int32_t>(info.type);
    given->dims = tensor.dims.data();
    given->rank = tensor.dims.size();
    given->data = tensor.data;
    list_.push_back(given);
  }
}

core::Status RawInputs::check_unchanged() const {
  for (const Tensor& tensor : tensors_) {
    if (!std::ranges::equal(tensor.original, std::span(tensor.data, tensor.original.size())))
      return wrong(fmt::format("execute() changes the input '{}'", tensor.name));
  }
  return {};
}

// Memory of one output, with edges on both sides.
class RawOutputs::Memory final : public core::OutputMemory {
 public:
  [[nodiscard]] core::Result<void*> memory_for(core::ElementType type, const core::Shape& shape) override {
    LB_ASSIGN_OR_RETURN(size_, core::byte_size_of(type, shape));
    bytes_ = std::make_unique<std::byte[]>(size_ + 2 * kEdge);
    std::fill_n(bytes_.get(), size_ + 2 * kEdge, kEdgeByte);
    return static_cast<void*>(data());
  }
  [[nodiscard]] bool has_whole_edges() const {
    if (bytes_ == nullptr) return true;
    const auto is_whole = [](std::byte each) { return each == kEdgeByte; };
    return std::all_of(bytes_.get(), data(), is_whole) &&
           std::all_of(data() + size_, bytes_.get() + size_ + 2 * kEdge, is_whole);
  }

 private:
  [[nodiscard]] std::byte* data() const { return bytes_.get() + kEdge; }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

RawOutputs::RawOutputs(const std::vector<core::TensorInfo>& infos, bool has_memory) {
  for (const core::TensorInfo& info : infos) {
    Output& output = outputs_.emplace_back();
    output.info = info;
    output.memory = std::make_unique<Memory>();
    output.tensor = std::make_unique<core::OutputTensor>(has_memory ? core::OutputTensor::in(*output.memory)
                                                                    : core::OutputTensor::bound(nullptr, 0));
    output.given = &kept<lbb_output>();
    output.given->to = output.tensor.get();
    output.given->info = &output.info;
    list_.push_back(output.given);
  }
}

RawOutputs::~RawOutputs() = default;

std::deque<Usable> RawOutputs::usable() const {
  std::deque<Usable> all;
  for (const Output& output : outputs_)
    all.emplace_back(output.given, "execute");
  return all;
}

core::Status RawOutputs::check_edges() const {
  for (const Output& output : outputs_) {
    if (!output.memory->has_whole_edges())
      return wrong(fmt::format("execute() writes beyond the memory of the output '{}'", output.info.name));
  }
  return {};
}

core::Status RawOutputs::problem() const {
  for (const Output& output : outputs_)
    LB_RETURN_IF_ERROR(output.given->problem);
  return {};
}

core::Result<std::vector<Array>> RawOutputs::take() const {
  std::vector<Array> arrays;
  for (const Output& output : outputs_) {
    if (!output.given->is_prepared)
      return wrong(fmt::format("execute() returns LBB_OK without the output '{}'", output.info.name));
    const core::TensorView& view = output.tensor->view();
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(view.type, view.shape));
    arrays.push_back(read_array(view.type, view.shape, {static_cast<const std::byte*>(view.data), bytes}));
  }
  return arrays;
}

RawCircumstances::RawCircumstances(const RawRun& how) : run_(grown<lbb_run>(memory_, how.growth)) {
  run_->deadline_ns = how.deadline_ns;
  run_->side_by_side = how.side_by_side;
  if (how.is_cancelled) {
    run_->is_cancelled = [](const lbb_run*) -> std::int32_t { return 1; };
  } else {
    run_->is_cancelled = [](const lbb_run*) -> std::int32_t { return 0; };
  }
}

}  // namespace latebind::kit
