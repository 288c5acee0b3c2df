#include "backends/plugin/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <span>

#include "backends/plugin/graph_form.h"
#include "backends/plugin/plugin_device.h"
#include "core/text/one_line.h"

namespace latebind::plugin {
namespace {

using core::Status;
using core::StatusCode;

std::string line_of(const char* text) {
  return core::one_line(std::string_view(text, std::min(std::char_traits<char>::length(text), kTextMax)));
}

// Calls a function of the host. No exception leaves it: `otherwise` is returned instead.
template <class T, class Function>
T guarded(T otherwise, const Function& function) noexcept {
  try {
    return function();
  } catch (...) {
    return otherwise;
  }
}
template <class Function>
void guarded(const Function& function) noexcept {
  guarded(0, [&] {
    function();
    return 0;
  });
}

void log_line(std::int32_t level, const char* text) {
  if (text == nullptr) return;
  const bool is_level = level >= LBB_LOG_DEBUG && level <= LBB_LOG_ERROR;
  guarded([&] {
    core::log_from_vendor(is_level ? static_cast<core::LogLevel>(level) : core::LogLevel::kInfo, line_of(text));
  });
}

lbb_code fail(lbb_error* error, lbb_code code, const char* message) {
  if (error != nullptr && message != nullptr) guarded([&] { error->message = line_of(message); });
  return code;
}

void fail_with_vendor(lbb_error* error, std::int64_t vendor_code, const char* text) {
  if (error == nullptr) return;
  error->vendor_code = vendor_code;
  if (text != nullptr) guarded([&] { error->vendor_text = line_of(text); });
}

void spoil(lbb_error* error) {
  if (error != nullptr) error->is_spoiled = true;
}

void set_text(lbb_text* to, const char* text) {
  if (to != nullptr && text != nullptr)
    guarded([&] { to->text.assign(text, std::min(std::char_traits<char>::length(text), kTextMax)); });
}

lbb_code write(lbb_bytes* bytes, const void* data, std::size_t size) {
  if (bytes == nullptr || (data == nullptr && size > 0)) return LBB_INVALID_ARGUMENT;
  return guarded(lbb_code{LBB_OUT_OF_MEMORY}, [&] {
    bytes->bytes.append(static_cast<const char*>(data), size);
    return lbb_code{LBB_OK};
  });
}

void add_left_node(lbb_bytes* bytes, const char* op, const char* name, const char* shape) {
  if (bytes == nullptr || op == nullptr) return;
  core::LeftNodes& left = bytes->left;
  ++left.count;
  if (left.first.size() >= core::LeftNodes::kFirstMax) return;
  const auto text = [](const char* given) { return given == nullptr ? std::string() : line_of(given); };
  guarded([&] { left.first.push_back({.op = text(op), .name = text(name), .shape = text(shape)}); });
}

lbb_code add_device(lbb_devices* devices, const lbb_device* device) {
  if (devices == nullptr) return LBB_INVALID_ARGUMENT;
  return guarded(lbb_code{LBB_OUT_OF_MEMORY}, [&] {
    const Status added = add_to(*devices, device);
    if (!added.ok() && devices->problem.ok()) devices->problem = added;
    return code_of(added.code());
  });
}

void* prepare_output(lbb_output* output, std::int32_t type, const std::int64_t* dims, std::size_t rank) {
  if (output == nullptr) return nullptr;
  return guarded<void*>(nullptr, [&]() -> void* {
    const auto refuse = [&](Status problem) -> void* {
      if (output->problem.ok()) output->problem = std::move(problem);
      return nullptr;
    };
    const core::TensorInfo& info = *output->info;
    const auto wrong = [&](std::string_view text) {
      return refuse(breach(fmt::format("output '{}' {}", info.name, text)));
    };
    if (output->is_prepared) return wrong("is prepared twice in one run");
    if (type != static_cast<std::int32_t>(info.type)) {
      return wrong(fmt::format("is {}, but the run gives {}", core::name_of(info.type),
                               core::name_of(static_cast<core::ElementType>(type))));
    }
    auto shape = shape_of(fmt::format("output '{}'", info.name), dims, rank);
    if (!shape.ok()) return refuse(shape.status());
    if (!shape->is_static() || !info.shape.accepts(*shape)) {
      return wrong(fmt::format("has shape {}, but the run gives {}", info.shape.to_string(), shape->to_string()));
    }
    auto memory = output->to->prepare(info.type, *shape);
    if (!memory.ok()) return refuse(memory.status().with_context(fmt::format("output '{}'", info.name)));
    output->is_prepared = true;
    // An empty tensor needs no memory, and null says that there is none.
    static std::byte nothing{};
    return *memory != nullptr ? *memory : &nothing;
  });
}

const void* weight(const lbb_graph* graph, std::uint32_t number) {
  return guarded<const void*>(nullptr, [&] { return GraphForm::of(graph)->weight(number); });
}

lbb_code read_weight(const lbb_graph* graph, std::uint32_t number, std::uint64_t offset, void* to, std::uint64_t size,
                     lbb_error* error) {
  return guarded(lbb_code{LBB_OUT_OF_MEMORY}, [&] {
    const Status read = GraphForm::of(graph)->read_weight(number, offset, to, size);
    return read.ok() ? lbb_code{LBB_OK} : fail(error, code_of(read.code()), read.to_string().c_str());
  });
}

void add_search_step(lbb_diagnosis* diagnosis, const char* place, const char* source, const char* outcome,
                     std::int32_t opened) {
  if (diagnosis == nullptr || place == nullptr || source == nullptr || outcome == nullptr) return;
  guarded([&] {
    diagnosis->diagnosis.search.push_back({line_of(place), line_of(source), line_of(outcome), opened != 0});
  });
}

void add_unavailable(lbb_diagnosis* diagnosis, const char* name, const char* reason) {
  if (diagnosis == nullptr || name == nullptr || reason == nullptr) return;
  guarded([&] { diagnosis->diagnosis.unavailable.push_back({line_of(name), line_of(reason)}); });
}

void set_install_hint(lbb_diagnosis* diagnosis, const char* text) {
  if (diagnosis != nullptr && text != nullptr) guarded([&] { diagnosis->diagnosis.install_hint = line_of(text); });
}

lbb_host make_host() {
  lbb_host host = sized<lbb_host>();
  host.abi_least = 1;
  host.abi_most = LBB_ABI;
  host.version = LATEBIND_VERSION;
  host.log = log_line;
  host.fail = fail;
  host.fail_with_vendor = fail_with_vendor;
  host.spoil = spoil;
  host.set_text = set_text;
  host.write = write;
  host.add_left_node = add_left_node;
  host.add_device = add_device;
  host.prepare_output = prepare_output;
  host.weight = weight;
  host.read_weight = read_weight;
  host.add_search_step = add_search_step;
  host.add_unavailable = add_unavailable;
  host.set_install_hint = set_install_hint;
  return host;
}

}  // namespace

const lbb_host& own_host() {
  static const lbb_host host = make_host();
  return host;
}

Status status_of(lbb_code code, const lbb_error& error, std::string_view who, const char* slot) {
  const auto known = status_code_of(code);
  if (!known || *known == StatusCode::kOk) {
    return breach(fmt::format("{} returned the code {} from {}(), which the contract does not have{}{}", who, code,
                              slot, error.message.empty() ? "" : ": ", error.message));
  }
  std::string message = error.message.empty() ? fmt::format("{} failed in {}() with {}, and gave no reason", who, slot,
                                                            core::name_of(*known))
                                              : error.message;
  if (!error.vendor_code) return Status(*known, std::move(message));
  return Status::from_vendor(*known, std::move(message), *error.vendor_code, error.vendor_text);
}

Status status_of_exception(std::string_view who, const char* slot) {
  std::string what = "no text";
  try {
    throw;
  } catch (const std::exception& exception) {
    what = core::one_line(exception.what());
  } catch (...) {
    what = "an exception without a text";
  }
  return breach(fmt::format("{} threw an exception in {}(), where none may leave: {}", who, slot, what));
}

}  // namespace latebind::plugin
