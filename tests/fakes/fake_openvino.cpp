// The fake OpenVINO library: the vendor's functions for cores, models and ports, over fake_openvino_state.h. See
// README.md.
#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/fakes/fake_openvino_entry.h"
#include "tests/fakes/fake_openvino_state.h"

using namespace latebind::fake;  // NOLINT: the whole file is inside it
using latebind::openvino::abi::Code;
using latebind::openvino::abi::CompiledModel;
using latebind::openvino::abi::ConstPort;
using latebind::openvino::abi::Core;
using latebind::openvino::abi::Devices;
using latebind::openvino::abi::ElementCode;
using latebind::openvino::abi::InferRequest;
using latebind::openvino::abi::Model;
using latebind::openvino::abi::PartialShape;
using latebind::openvino::abi::RunState;
using latebind::openvino::abi::Shape;
using latebind::openvino::abi::Tensor;
using latebind::openvino::abi::Version;
using BoundsOfDimension = latebind::openvino::abi::Dimension;

namespace {

constexpr Code kInvalidParameter = latebind::openvino::abi::kInvalidParameter;

char* new_text(const std::string& text) {
  char* copy = new char[text.size() + 1];
  std::memcpy(copy, text.c_str(), text.size() + 1);
  born("text", copy);
  return copy;
}

constexpr const char* kKnownProperties[] = {"PERFORMANCE_HINT",
                                            "INFERENCE_PRECISION_HINT",
                                            "INFERENCE_NUM_THREADS",
                                            "NUM_STREAMS",
                                            "CPU_RUNTIME_CACHE_CAPACITY",
                                            "ENABLE_CPU_PINNING",
                                            "PERFORMANCE_HINT_NUM_REQUESTS",
                                            "CACHE_DIR",
                                            "ENABLE_MMAP"};

bool is_known(const std::string& device, const std::string& key) {
  const auto refused = Script::read().refused_properties;
  if (std::ranges::find(refused, key) != refused.end()) return false;
  if (base_of(device) == "NPU" && (key == "INFERENCE_NUM_THREADS" || key == "NUM_STREAMS")) return false;
  if (key == "NPU_PLATFORM" || key == "NPU_COMPILER_TYPE") return base_of(device) == "NPU";
  return std::ranges::find(kKnownProperties, key) != std::end(kKnownProperties);
}

// What the device makes of the precision that it is asked for.
std::string precision_of(const CompiledModel& compiled) {
  const Script script = Script::read();
  for (const auto& [scope, word] : script.precisions)
    if (scope.covers(compiled.device)) return word;
  const auto asked = compiled.properties.find("INFERENCE_PRECISION_HINT");
  const std::string base = base_of(compiled.device);
  if (base == "NPU") return "f16";
  if (asked == compiled.properties.end()) return base == "GPU" ? "f16" : "bf16";
  if (base == "CPU" && asked->second == "f16") return "f32";
  if (base == "GPU" && asked->second == "bf16") return "f16";
  return asked->second;
}

std::string to_text(const Network& network) {
  const auto shape_text = [](const std::vector<Dimension>& shape) {
    std::string text;
    for (const Dimension& dim : shape) {
      if (!text.empty()) text += ",";
      text += dim.is_static() ? std::to_string(dim.most)
              : dim.most < 0  ? std::string("?")
                              : std::to_string(dim.least) + ".." + std::to_string(dim.most);
    }
    return text.empty() ? std::string("-") : text;
  };
  std::string text = "fake-model\n";
  for (const Port& port : network.inputs)
    text += "input " + port.name + " " + port.type + " " + shape_text(port.shape) + "\n";
  std::istringstream lines(network.text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("output ")) text += line + "\n";
  return text;
}

Code new_compiled(Core* core, const Network& network, const std::string& device,
                  const std::map<std::string, std::string>& properties, CompiledModel** out) {
  auto* compiled = make<CompiledModel>("compiled model");
  compiled->network = network;
  compiled->device = device;
  {
    const std::lock_guard lock(core->mutex);
    compiled->properties = core->properties[base_of(device)];
  }
  for (const auto& [key, value] : properties)
    compiled->properties[key] = value;
  compiled->precision = precision_of(*compiled);
  compiled->core = core;
  ++core->children;
  *out = compiled;
  return 0;
}

}  // namespace

FAKE Code ov_get_openvino_version(Version* version) {
  ENTER(ov_get_openvino_version);
  version->build_number = new_text(Script::read().version);
  version->description = new_text("fake");
  return 0;
}

FAKE void ov_version_free(Version* version) {
  for (const char** text : {&version->build_number, &version->description}) {
    drop("text", *text);
    *text = nullptr;
  }
}

FAKE const char* ov_get_error_info(Code code) {
  switch (code) {
    case -1:
      return "general error";
    case kInvalidParameter:
      return "invalid C input parameters";
    default:
      return "fake error";
  }
}

FAKE const char* ov_get_last_err_msg() {
  const std::string text = last_text();
  return text.empty() ? nullptr : new_text(text);
}

FAKE void ov_free(const char* text) {
  drop("text", text);
}

FAKE Code ov_core_create(Core** out) {
  ENTER(ov_core_create);
  *out = make<Core>("core");
  return 0;
}

FAKE void ov_core_free(Core* core) {
  if (core != nullptr && core->children != 0) defect("a core was freed before what was made from it");
  drop("core", core);
}

FAKE Code ov_core_get_available_devices(const Core* core, Devices* devices) {
  ENTER(ov_core_get_available_devices);
  NEED("core", core);
  const auto names = Script::read().devices;
  devices->size = names.size();
  devices->names = new char*[names.size() + 1];
  born("devices", devices->names);
  for (std::size_t i = 0; i < names.size(); ++i)
    devices->names[i] = new_text(names[i]);
  return 0;
}

FAKE void ov_available_devices_free(Devices* devices) {
  for (std::size_t i = 0; i < devices->size; ++i)
    drop("text", devices->names[i]);
  if (dies("devices", devices->names)) delete[] devices->names;
  *devices = {};
}

FAKE Code ov_core_get_property(const Core* core, const char* device, const char* key, char** value) {
  ENTER(ov_core_get_property);
  NEED("core", core);
  const Script script = Script::read();
  if (const auto found = script.properties.find(device); found != script.properties.end()) {
    if (const auto text = found->second.find(key); text != found->second.end()) {
      *value = new_text(text->second);
      return 0;
    }
  }
  if (std::string(key) != "FULL_DEVICE_NAME") return fail(-1, std::string("Unsupported property ") + key);
  *value = new_text(std::string("Fake ") + device);
  return 0;
}

FAKE Code ov_core_set_property(const Core* core, const char* device, ...) {
  va_list list;
  va_start(list, device);
  const std::string key = va_arg(list, const char*);
  const std::string value = va_arg(list, const char*);
  va_end(list);
  ENTER(ov_core_set_property);
  NEED("core", core);
  if (!is_known(device, key)) return fail(-1, "Unsupported property " + key);
  auto* const changed = const_cast<Core*>(core);
  const std::lock_guard lock(changed->mutex);
  changed->properties[base_of(device)][key] = value;
  return 0;
}

namespace {

Code new_model(const Core* core, const std::string& text, const Tensor* weights, Model** out) {
  auto network = Network::parse(text);
  if (!network) return -1;
  auto* model = make<Model>("model");
  model->network = *std::move(network);
  if (weights != nullptr) model->network.weights = reinterpret_cast<const float*>(weights->data->data);
  model->core = core;
  ++const_cast<Core*>(core)->children;
  *out = model;
  return 0;
}

}  // namespace

FAKE Code ov_core_read_model(const Core* core, const char* path, const char*, Model** out) {
  ENTER(ov_core_read_model);
  NEED("core", core);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(-1, std::string("Could not open the file: \"") + path + "\"");
  std::stringstream text;
  text << file.rdbuf();
  return new_model(core, text.str(), nullptr, out);
}

FAKE Code ov_core_read_model_from_memory_buffer(const Core* core, const char* text, std::size_t size,
                                                const Tensor* weights, Model** out) {
  ENTER(ov_core_read_model_from_memory_buffer);
  NEED("core", core);
  return new_model(core, std::string(text, size), weights, out);
}

namespace {

// An NPU that is not there is compiled for by the compiler that is a library, which has to be told which one it is.
Code check_platform(const std::map<std::string, std::string>& properties) {
  const auto type = properties.find("NPU_COMPILER_TYPE");
  if (type == properties.end() || type->second != "PLUGIN") return fail(-1, "No backend registered during compile");
  const auto platform = properties.find("NPU_PLATFORM");
  if (platform == properties.end()) return fail(-1, "Unsupported platform: 'AUTO_DETECT'");
  for (const char* known : {"3720", "4000", "5010", "5020"})
    if (platform->second == known) return 0;
  return fail(-1, "Unknown value for platform: " + platform->second);
}

}  // namespace

FAKE Code ov_core_compile_model(const Core* core, const Model* model, const char* device, std::size_t strings,
                                CompiledModel** out, ...) {
  std::map<std::string, std::string> properties;
  va_list list;
  va_start(list, out);
  for (std::size_t i = 0; i + 1 < strings; i += 2) {
    const std::string key = va_arg(list, const char*);
    properties[key] = va_arg(list, const char*);
  }
  va_end(list);
  ENTER_ON(ov_core_compile_model, device);
  NEED("core", core);
  NEED("model", model);
  const Script script = Script::read();
  if (!script.lists(device)) {
    if (std::ranges::find(script.registered, device) == script.registered.end()) {
      return fail(-1, std::string("Device with \"") + device + "\" name is not registered");
    }
    if (const Code code = check_platform(properties); code != 0) return code;
  }
  for (const auto& [key, value] : properties)
    if (!is_known(device, key)) return fail(-1, "Unsupported property " + key);
  const bool is_static = std::ranges::all_of(
      model->network.inputs, [](const Port& port) { return std::ranges::all_of(port.shape, &Dimension::is_static); });
  if (base_of(device) == "NPU" && !is_static) return fail(-1, "Missing upper bound for one or more nodes.");
  for (const auto& failure : script.shape_failures) {
    if (!failure.compiling || !failure.scope.covers(device) || model->network.inputs.empty()) continue;
    const auto& shape = model->network.inputs[0].shape;
    const bool same = std::ranges::equal(shape, failure.dims, [](const Dimension& dim, std::int64_t size) {
      return dim.is_static() && dim.most == size;
    });
    if (same) return fail(failure.code, failure.text);
  }
  return new_compiled(const_cast<Core*>(core), model->network, device, properties, out);
}

FAKE Code ov_core_import_model(const Core* core, const char* content, std::size_t size, const char* device,
                               CompiledModel** out) {
  ENTER_ON(ov_core_import_model, device);
  NEED("core", core);
  const std::string text(content, size);
  const std::string head = "fake-blob " + Script::read().version + " " + base_of(device) + "\n";
  if (!text.starts_with(head)) return fail(-1, "Imported model was compiled with another version or device");
  auto network = Network::parse(text.substr(head.size()));
  if (!network) return -1;
  return new_compiled(const_cast<Core*>(core), *network, device, {}, out);
}

FAKE void ov_model_free(Model* model) {
  if (model != nullptr && is_alive("core", model->core)) --const_cast<Core*>(model->core)->children;
  drop("model", model);
}

FAKE Code ov_model_inputs_size(const Model* model, std::size_t* size) {
  ENTER(ov_model_inputs_size);
  NEED("model", model);
  *size = model->network.inputs.size();
  return 0;
}

FAKE Code ov_model_reshape_by_port_indexes(const Model* model, const std::size_t* indexes, const PartialShape* shapes,
                                           std::size_t size) {
  ENTER(ov_model_reshape_by_port_indexes);
  NEED("model", model);
  auto& inputs = const_cast<Model*>(model)->network.inputs;
  for (std::size_t i = 0; i < size; ++i) {
    auto& shape = inputs.at(indexes[i]).shape;
    if (shapes[i].rank.min != static_cast<std::int64_t>(shape.size())) return fail(-1, "the rank cannot be changed");
    for (std::size_t d = 0; d < shape.size(); ++d)
      shape[d] = {shapes[i].dims[d].min, shapes[i].dims[d].max};
  }
  return 0;
}

FAKE void ov_compiled_model_free(CompiledModel* compiled) {
  if (compiled == nullptr) return;
  if (compiled->requests != 0) defect("a compiled model was freed before its requests");
  if (is_alive("core", compiled->core)) --compiled->core->children;
  drop("compiled model", compiled);
}

FAKE Code ov_compiled_model_inputs_size(const CompiledModel* compiled, std::size_t* size) {
  ENTER(ov_compiled_model_inputs_size);
  NEED("compiled model", compiled);
  *size = compiled->network.inputs.size();
  return 0;
}

FAKE Code ov_compiled_model_outputs_size(const CompiledModel* compiled, std::size_t* size) {
  ENTER(ov_compiled_model_outputs_size);
  NEED("compiled model", compiled);
  *size = compiled->network.outputs.size();
  return 0;
}

FAKE Code ov_compiled_model_input_by_index(const CompiledModel* compiled, std::size_t index, ConstPort** out) {
  ENTER(ov_compiled_model_input_by_index);
  NEED("compiled model", compiled);
  *out = make<ConstPort>("port");
  (*out)->port = compiled->network.inputs.at(index);
  return 0;
}

FAKE Code ov_compiled_model_output_by_index(const CompiledModel* compiled, std::size_t index, ConstPort** out) {
  ENTER(ov_compiled_model_output_by_index);
  NEED("compiled model", compiled);
  *out = make<ConstPort>("port");
  (*out)->port = compiled->network.output_port(index);
  return 0;
}

FAKE Code ov_compiled_model_get_property(const CompiledModel* compiled, const char* key, char** value) {
  ENTER(ov_compiled_model_get_property);
  NEED("compiled model", compiled);
  const std::string name = key;
  const auto get = [&](const char* property, const char* otherwise) {
    const auto found = compiled->properties.find(property);
    return found == compiled->properties.end() ? std::string(otherwise) : found->second;
  };
  if (name == "INFERENCE_PRECISION_HINT") {
    *value = new_text(compiled->precision);
  } else if (name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
    const std::string streams = get("NUM_STREAMS", "4");
    *value = new_text(streams == "0" ? "1" : streams);
  } else if (name == "INFERENCE_NUM_THREADS" && get("NUM_STREAMS", "") == "0") {
    *value = new_text("0");  // as the real one
  } else if (is_known(compiled->device, name)) {
    *value = new_text(get(key, "0"));
  } else {
    return fail(-1, "Unsupported property " + name);
  }
  return 0;
}

FAKE Code ov_compiled_model_export_model(const CompiledModel* compiled, const char* path) {
  ENTER(ov_compiled_model_export_model);
  NEED("compiled model", compiled);
  std::ofstream file(path, std::ios::binary);
  if (Script::read().cut_exports) {
    // A label without text, and a table of three parts of a byte each.
    file << "RR_UPCVO" << std::string(12, '\0');
    for (const char number : {'\x30', '\1', '\x31', '\1', '\x32', '\1'})
      file << number << std::string(7, '\0');
    file << "12";
    return 0;
  }
  file << "fake-blob " << Script::read().version << " " << base_of(compiled->device) << "\n"
       << to_text(compiled->network);
  if (const auto found = compiled->properties.find("NPU_PLATFORM"); found != compiled->properties.end()) {
    file << "platform " << found->second << "\n";
  }
  return file ? 0 : fail(-1, std::string("Could not write the file: \"") + path + "\"");
}

FAKE Code ov_compiled_model_create_infer_request(const CompiledModel* compiled, InferRequest** out) {
  NEED("compiled model", compiled);
  ENTER_ON(ov_compiled_model_create_infer_request, compiled->device);
  auto* request = make<InferRequest>("request");
  request->run = std::make_shared<RunState>();
  request->run->network = compiled->network;
  request->run->device = compiled->device;
  request->run->precision = compiled->precision;
  request->run->spoiled = compiled->spoiled;
  request->run->inputs.resize(compiled->network.inputs.size());
  request->run->outputs.resize(compiled->network.outputs.size());
  request->compiled = const_cast<CompiledModel*>(compiled);
  ++request->compiled->requests;
  *out = request;
  return 0;
}

FAKE void ov_output_const_port_free(ConstPort* port) {
  drop("port", port);
}

FAKE Code ov_port_get_any_name(const ConstPort* port, char** name) {
  ENTER(ov_port_get_any_name);
  NEED("port", port);
  *name = new_text(port->port.name);
  return 0;
}

FAKE Code ov_port_get_partial_shape(const ConstPort* port, PartialShape* shape) {
  ENTER(ov_port_get_partial_shape);
  NEED("port", port);
  const auto rank = static_cast<std::int64_t>(port->port.shape.size());
  shape->rank = {rank, rank};
  shape->dims = new BoundsOfDimension[port->port.shape.size() + 1];
  born("partial shape", shape->dims);
  for (std::size_t i = 0; i < port->port.shape.size(); ++i)
    shape->dims[i] = {port->port.shape[i].least, port->port.shape[i].most};
  return 0;
}

FAKE Code ov_port_get_element_type(const ConstPort* port, ElementCode* type) {
  ENTER(ov_port_get_element_type);
  NEED("port", port);
  *type = code_of(port->port.type, Script::read().old_numbering);
  return 0;
}

FAKE void ov_partial_shape_free(PartialShape* shape) {
  if (dies("partial shape", shape->dims)) delete[] shape->dims;
  shape->dims = nullptr;
}
