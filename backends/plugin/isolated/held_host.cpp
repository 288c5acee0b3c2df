#include "backends/plugin/isolated/held_host.h"

#include <cstring>
#include <string>
#include <utility>

#include "backends/plugin/isolated/forms.h"
#include "backends/plugin/isolated/held_model.h"
#include "core/threads/mutex.h"

namespace latebind::plugin {
namespace {

constexpr std::size_t kLinesMax = 64;

struct Lines {
  core::Mutex mutex;
  std::vector<std::pair<std::int32_t, std::string>> lines LB_GUARDED_BY(mutex);
};
Lines& lines() {
  static auto& lines = *new Lines();
  return lines;
}

void log(std::int32_t level, const char* text) {
  if (text == nullptr) return;
  Lines& all = lines();
  const core::MutexLock lock(all.mutex);
  if (all.lines.size() < kLinesMax) all.lines.emplace_back(level, std::string(text).substr(0, kNameMax));
}

lbb_code add_device(lbb_devices* devices, const lbb_device* device) {
  auto& held = static_cast<HeldDevices&>(*devices);
  if (device == nullptr || !has_size(*device)) return LBB_INTERNAL;
  write_device(held.written, read_struct(*device));
  ++held.count;
  return LBB_OK;
}

void* prepare_output(lbb_output* output, std::int32_t type, const std::int64_t* dims, std::size_t rank) {
  auto& held = static_cast<HeldOutput&>(*output);
  const auto shape = shape_of("an output", dims, rank);
  const auto known = type_of("an output", type);
  if (held.is_prepared || !shape.ok() || !known.ok()) return nullptr;
  const auto size = core::byte_size_of(*known, *shape);
  if (!size.ok()) return nullptr;
  held.type = type;
  held.dims.assign(dims, dims + rank);
  held.size = *size;
  Place& place = *held.place;
  if (stepped(*size) <= place.memory.size() - place.at) {
    held.data = place.memory.data() + place.at;
    place.at += stepped(*size);
  } else {
    held.data = new (std::align_val_t{kTensorStep}, std::nothrow) std::byte[*size + 1];
    if (held.data == nullptr) return nullptr;
    place.blocks.emplace_back(held.data);
  }
  held.is_prepared = true;
  return held.data;
}

const void* weight(const lbb_graph* graph, std::uint32_t number) {
  return HeldModel::of(graph).weight(number).data();
}

lbb_code read_weight(const lbb_graph* graph, std::uint32_t number, std::uint64_t offset, void* to, std::uint64_t size,
                     lbb_error* error) {
  const auto bytes = HeldModel::of(graph).weight(number);
  if (offset > bytes.size() || size > bytes.size() - offset)
    return own_host().fail(error, LBB_INVALID_ARGUMENT, "the range is not in the weight");
  std::memcpy(to, bytes.data() + offset, size);
  return LBB_OK;
}

}  // namespace

std::int32_t is_run_cancelled(const lbb_run* run) {
  static_assert(offsetof(HeldRun, run) == 0);
  return reinterpret_cast<const HeldRun*>(run)->is_cancelled->load(std::memory_order_relaxed) != 0 ? 1 : 0;
}

const lbb_host& held_host() {
  static const lbb_host host = [] {
    lbb_host made = own_host();
    made.log = log;
    made.add_device = add_device;
    made.prepare_output = prepare_output;
    made.weight = weight;
    made.read_weight = read_weight;
    return made;
  }();
  return host;
}

void take_lines(Writer& to) {
  Lines& all = lines();
  const core::MutexLock lock(all.mutex);
  to.number(all.lines.size());
  for (const auto& [level, text] : all.lines) {
    to.integer(level);
    to.text(text.c_str());
  }
  all.lines.clear();
}

}  // namespace latebind::plugin
