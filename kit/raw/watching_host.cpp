#include "kit/raw/watching_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "backends/plugin/host.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "core/threads/mutex.h"

namespace latebind::kit {
namespace {

// What is known about the objects and graphs of this process.
struct Watched {
  core::Mutex mutex;
  std::vector<std::string> breaches LB_GUARDED_BY(mutex);
  std::map<const void*, std::string> ended LB_GUARDED_BY(mutex);  // objects that may not be used any more, by slot
  std::map<const lbb_graph*, WeightSource*> sources LB_GUARDED_BY(mutex);
};

// Never destroyed: threads of a plug-in may call the host at the end of the process.
Watched& watched() {
  static auto* const made = new Watched;
  return *made;
}

// Notes a breach if the object may not be used. Returns whether it may.
bool may_use(const void* object, std::string_view function, std::string_view what) {
  if (object == nullptr) {
    note_breach(fmt::format("{}() is called without {}", function, what));
    return false;
  }
  Watched& all = watched();
  std::string slot;
  {
    const core::MutexLock lock(all.mutex);
    const auto found = all.ended.find(object);
    if (found == all.ended.end()) return true;
    slot = found->second;
  }
  note_breach(fmt::format("{}() is called with {} of {}(), which has returned", function, what, slot));
  return false;
}

// Notes a breach for a text that is none. `optional`: null is allowed.
void check_text(const char* text, std::string_view function, std::string_view what, bool optional = false) {
  if (text == nullptr) {
    if (!optional) note_breach(fmt::format("{}() gets a null pointer as {}", function, what));
    return;
  }
  const std::string_view given(text, strnlen(text, plugin::kTextMax));
  if (core::find_invalid_utf8(given))
    note_breach(fmt::format("{}() gets {} that is not UTF-8: {}", function, what, core::quoted(given)));
}

void check_line(const char* text, std::string_view function, std::string_view what) {
  check_text(text, function, what);
  if (text != nullptr && std::strpbrk(text, "\r\n") != nullptr)
    note_breach(fmt::format("{}() gets {} of more than one line: {}", function, what, core::quoted(text)));
}

void watch_log(std::int32_t level, const char* text) {
  check_line(text, "log", "a text");
  if (level < LBB_LOG_DEBUG || level > LBB_LOG_ERROR) note_breach(fmt::format("log() gets the level {}", level));
  plugin::own_host().log(level, text);
}

lbb_code watch_fail(lbb_error* error, lbb_code code, const char* message) {
  check_line(message, "fail", "a message");
  if (message != nullptr && *message == '\0') note_breach("fail() gets an empty message");
  if (!plugin::status_code_of(code) || code == LBB_OK)
    note_breach(fmt::format("fail() gets the code {}, which is not an error of the contract", code));
  return may_use(error, "fail", "an error") ? plugin::own_host().fail(error, code, message) : code;
}

void watch_fail_with_vendor(lbb_error* error, std::int64_t vendor_code, const char* text) {
  check_text(text, "fail_with_vendor", "a text", /*optional=*/true);
  if (may_use(error, "fail_with_vendor", "an error")) plugin::own_host().fail_with_vendor(error, vendor_code, text);
}

void watch_spoil(lbb_error* error) {
  if (may_use(error, "spoil", "an error")) plugin::own_host().spoil(error);
}

void watch_set_text(lbb_text* to, const char* text) {
  check_text(text, "set_text", "a text");
  if (may_use(to, "set_text", "a place for the text")) plugin::own_host().set_text(to, text);
}

lbb_code watch_write(lbb_bytes* bytes, const void* data, std::size_t size) {
  if (data == nullptr && size > 0) note_breach(fmt::format("write() gets no data, but the size {}", size));
  if (!may_use(bytes, "write", "a sink")) return LBB_INVALID_ARGUMENT;
  return plugin::own_host().write(bytes, data, size);
}

void watch_add_left_node(lbb_bytes* bytes, const char* op, const char* name, const char* shape) {
  check_text(op, "add_left_node", "an operator");
  check_text(name, "add_left_node", "a name", /*optional=*/true);
  check_text(shape, "add_left_node", "a shape", /*optional=*/true);
  if (may_use(bytes, "add_left_node", "a sink")) plugin::own_host().add_left_node(bytes, op, name, shape);
}

lbb_code watch_add_device(lbb_devices* devices, const lbb_device* device) {
  if (device == nullptr) note_breach("add_device() gets no device");
  if (!may_use(devices, "add_device", "a list")) return LBB_INVALID_ARGUMENT;
  return plugin::own_host().add_device(devices, device);
}

void* watch_prepare_output(lbb_output* output, std::int32_t type, const std::int64_t* dims, std::size_t rank) {
  if (dims == nullptr && rank > 0) {
    note_breach(fmt::format("prepare_output() gets the rank {}, but no dimensions", rank));
    return nullptr;
  }
  if (!may_use(output, "prepare_output", "an output")) return nullptr;
  return plugin::own_host().prepare_output(output, type, dims, rank);
}

// Returns the source of a copied graph; null for a graph of Latebind's host. `is_known` tells whether it may be used.
WeightSource* source_of(const lbb_graph* graph, std::string_view function, bool& is_known) {
  is_known = graph != nullptr;
  if (graph == nullptr) return note_breach(fmt::format("{}() is called without a graph", function)), nullptr;
  Watched& all = watched();
  {
    const core::MutexLock lock(all.mutex);
    const auto found = all.sources.find(graph);
    if (found == all.sources.end() || found->second != nullptr)
      return found == all.sources.end() ? nullptr : found->second;
  }
  is_known = false;
  note_breach(fmt::format("{}() is called with a graph of a slot that has returned", function));
  return nullptr;
}

const void* watch_weight(const lbb_graph* graph, std::uint32_t number) {
  bool is_known = false;
  WeightSource* const source = source_of(graph, "weight", is_known);
  if (!is_known) return nullptr;
  return source != nullptr ? source->weight(number) : plugin::own_host().weight(graph, number);
}

lbb_code watch_read_weight(const lbb_graph* graph, std::uint32_t number, std::uint64_t offset, void* to,
                           std::uint64_t size, lbb_error* error) {
  bool is_known = false;
  WeightSource* const source = source_of(graph, "read_weight", is_known);
  if (!is_known || !may_use(error, "read_weight", "an error")) return LBB_INVALID_ARGUMENT;
  if (source == nullptr) return plugin::own_host().read_weight(graph, number, offset, to, size, error);
  if (source->read(number, offset, to, size)) return LBB_OK;
  return plugin::own_host().fail(error, LBB_IO, "the kit does not give the weight's bytes");
}

void watch_add_search_step(lbb_diagnosis* diagnosis, const char* place, const char* source, const char* outcome,
                           std::int32_t opened) {
  for (const char* const text : {place, source, outcome})
    check_text(text, "add_search_step", "a text");
  if (may_use(diagnosis, "add_search_step", "a diagnosis"))
    plugin::own_host().add_search_step(diagnosis, place, source, outcome, opened);
}

void watch_add_unavailable(lbb_diagnosis* diagnosis, const char* name, const char* reason) {
  check_text(name, "add_unavailable", "a name");
  check_line(reason, "add_unavailable", "a reason");
  if (may_use(diagnosis, "add_unavailable", "a diagnosis")) plugin::own_host().add_unavailable(diagnosis, name, reason);
}

void watch_set_install_hint(lbb_diagnosis* diagnosis, const char* text) {
  check_text(text, "set_install_hint", "a text");
  if (may_use(diagnosis, "set_install_hint", "a diagnosis")) plugin::own_host().set_install_hint(diagnosis, text);
}

lbb_host make_watching_host() {
  lbb_host host = plugin::own_host();
  host.log = watch_log;
  host.fail = watch_fail;
  host.fail_with_vendor = watch_fail_with_vendor;
  host.spoil = watch_spoil;
  host.set_text = watch_set_text;
  host.write = watch_write;
  host.add_left_node = watch_add_left_node;
  host.add_device = watch_add_device;
  host.prepare_output = watch_prepare_output;
  host.weight = watch_weight;
  host.read_weight = watch_read_weight;
  host.add_search_step = watch_add_search_step;
  host.add_unavailable = watch_add_unavailable;
  host.set_install_hint = watch_set_install_hint;
  return host;
}

}  // namespace

const lbb_host& watching_host() {
  static const lbb_host host = make_watching_host();
  return host;
}

std::vector<std::string> take_breaches() {
  Watched& all = watched();
  const core::MutexLock lock(all.mutex);
  return std::exchange(all.breaches, {});
}

void note_breach(std::string text) {
  Watched& all = watched();
  const core::MutexLock lock(all.mutex);
  if (std::ranges::find(all.breaches, text) == all.breaches.end()) all.breaches.push_back(std::move(text));
}

Usable::Usable(const void* object, const char* slot) : object_(object), slot_(slot) {
  Watched& all = watched();
  const core::MutexLock lock(all.mutex);
  all.ended.erase(object);
}

Usable::~Usable() {
  Watched& all = watched();
  const core::MutexLock lock(all.mutex);
  all.ended.insert_or_assign(object_, slot_);
}

void set_weight_source(const lbb_graph* graph, WeightSource* source) {
  Watched& all = watched();
  const core::MutexLock lock(all.mutex);
  all.sources.insert_or_assign(graph, source);
}

}  // namespace latebind::kit
