#include "backends/pjrt/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/platform/files/folders.h"

namespace latebind::pjrt {

using abi::Function;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

// A CompileOptionsProto: executable_build_options (3) with device_ordinal (1) -1, num_replicas (4) 1 and num_partitions
// (5) 1; compile_portable_executable (4) true, so that the device is chosen in each run. Without options, plug-ins
// abort the process.
constexpr std::string_view kCompileOptions(
    "\x1a\x0f\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x01\x28\x01\x20\x01", 19);

abi::Type type_of(Element element) {
  switch (element) {
    case Element::kI64:
      return abi::Type::kI64;
    case Element::kF16:
      return abi::Type::kF16;
    case Element::kBF16:
      return abi::Type::kBF16;
    case Element::kF32:
      return abi::Type::kF32;
    case Element::kBool:
    case Element::kI32:
      break;
  }
  return abi::Type::kI32;
}

// Whether the plug-in is one for GPUs, which takes options of a GPU's memory. Others refuse options that they do not
// know, and the platform has a name only when there is a client.
bool is_for_gpus(const Api& api) {
  const std::string name = platform::path_to_utf8(api.file().filename());
  return std::ranges::any_of(std::array{"cuda", "rocm"},
                             [&](const char* word) { return name.find(word) != std::string::npos; });
}

}  // namespace

Result<std::shared_ptr<const Client>> Client::create(std::shared_ptr<const Api> api) {
  // By default, most of a GPU's memory is taken at once.
  abi::NamedValue preallocate;
  preallocate.head.size = sizeof preallocate;
  preallocate.name = "preallocate";
  preallocate.name_size = std::strlen(preallocate.name);
  preallocate.type = abi::ValueType::kBool;
  preallocate.value.truth = false;
  abi::ClientCreateArgs args;
  if (is_for_gpus(*api)) {
    args.options = &preallocate;
    args.option_count = 1;
  }
  if (const Status made = api->call(Function::kClientCreate, args, Doing::kOpening); !made.ok()) {
    const StatusCode code = made.code() == StatusCode::kLibraryUnusable ? StatusCode::kDeviceNotFound : made.code();
    return Status::from_vendor(code, "the PJRT plug-in has no device here", made.vendor_code().value_or(0),
                               std::string(made.vendor_text()));
  }
  const std::shared_ptr<Client> client(new Client(std::move(api), args.client));
  LB_RETURN_IF_ERROR(client->describe());
  return std::shared_ptr<const Client>(client);
}

Status Client::describe() {
  LB_ASSIGN_OR_RETURN(platform_, api_->text(Function::kClientPlatformName, handle_));
  LB_ASSIGN_OR_RETURN(platform_version_, api_->text(Function::kClientPlatformVersion, handle_));
  abi::ListArgs list;
  list.handle = handle_;
  LB_RETURN_IF_ERROR(api_->call(Function::kClientAddressableDevices, list, Doing::kOpening));
  for (std::size_t i = 0; i < list.count; ++i) {
    Device device{.handle = static_cast<abi::Device*>(list.items[i]), .kind = {}};
    LB_ASSIGN_OR_RETURN(void* const description, api_->handle(Function::kDeviceGetDescription, device.handle));
    LB_ASSIGN_OR_RETURN(device.kind, api_->text(Function::kDeviceDescriptionKind, description));
    devices_.push_back(std::move(device));
  }
  return {};
}

Client::~Client() {
  api_->free(Function::kClientDestroy, handle_);
}

Result<OwnedProgram> Client::compile(std::string_view stablehlo) const {
  abi::Program program;
  program.head.size = offsetof(abi::Program, spare);
  program.code = stablehlo.data();
  program.code_size = stablehlo.size();
  program.format = "mlir";
  program.format_size = std::strlen(program.format);
  abi::CompileArgs args;
  args.client = handle_;
  args.program = &program;
  args.options = kCompileOptions.data();
  args.options_size = kCompileOptions.size();
  LB_RETURN_IF_ERROR(api_->call(Function::kClientCompile, args, Doing::kCompiling));
  return OwnedProgram(shared_from_this(), args.executable, Function::kLoadedExecutableDestroy);
}

Result<OwnedProgram> Client::load(std::span<const std::byte> bytes) const {
  abi::DeserializeArgs args;
  args.client = handle_;
  args.bytes = reinterpret_cast<const char*>(bytes.data());
  args.size_of_bytes = bytes.size();
  LB_RETURN_IF_ERROR(api_->call(Function::kExecutableDeserializeAndLoad, args, Doing::kLoadingBlob));
  return OwnedProgram(shared_from_this(), args.executable, Function::kLoadedExecutableDestroy);
}

namespace {

Result<Owned<abi::Executable>> executable_of(const std::shared_ptr<const Client>& client, const OwnedProgram& program) {
  LB_ASSIGN_OR_RETURN(void* const handle,
                      client->api().handle(Function::kLoadedExecutableGetExecutable, program.get()));
  return Owned<abi::Executable>(client, static_cast<abi::Executable*>(handle), Function::kExecutableDestroy);
}

}  // namespace

Result<std::string> Client::serialize(const OwnedProgram& program) const {
  LB_ASSIGN_OR_RETURN(const auto executable, executable_of(shared_from_this(), program));
  abi::SerializeArgs args;
  args.executable = executable.get();
  LB_RETURN_IF_ERROR(api_->call(Function::kExecutableSerialize, args, Doing::kCompiling));
  std::string bytes(args.bytes, args.size_of_bytes);
  if (args.release != nullptr) args.release(args.owner);
  return bytes;
}

Result<std::size_t> Client::result_count(const OwnedProgram& program) const {
  LB_ASSIGN_OR_RETURN(const auto executable, executable_of(shared_from_this(), program));
  abi::CountArgs args;
  args.handle = executable.get();
  LB_RETURN_IF_ERROR(api_->call(Function::kExecutableNumOutputs, args, Doing::kCompiling));
  return args.count;
}

Result<OwnedBuffer> Client::upload(const Device& device, const void* data, Element element, const Dims& dims,
                                   Doing doing) const {
  abi::FromHostArgs args;
  args.client = handle_;
  args.data = data;
  args.type = type_of(element);
  args.dims = dims.data();
  args.dim_count = dims.size();
  args.memory_use = abi::HostMemory::kUntilTransferred;
  args.device = device.handle;
  LB_RETURN_IF_ERROR(api_->call(Function::kClientBufferFromHostBuffer, args, doing));
  OwnedBuffer buffer(shared_from_this(), args.buffer, Function::kBufferDestroy);
  LB_RETURN_IF_ERROR(api_->wait(args.done, doing));
  return buffer;
}

Result<std::vector<OwnedBuffer>> Client::execute(const OwnedProgram& program, const Device& device,
                                                 std::span<abi::Buffer* const> inputs, std::size_t result_count) const {
  abi::ExecuteOptions options;
  options.head.size = offsetof(abi::ExecuteOptions, spare);
  std::vector<abi::Buffer*> outputs(result_count);
  abi::Buffer* const* input_list = inputs.data();
  abi::Buffer** output_list = outputs.data();
  abi::Event* done = nullptr;
  abi::ExecuteArgs args;
  args.executable = program.get();
  args.options = &options;
  args.inputs = &input_list;
  args.input_count = inputs.size();
  args.outputs = &output_list;
  args.done = &done;
  args.device = device.handle;
  LB_RETURN_IF_ERROR(api_->call(Function::kLoadedExecutableExecute, args, Doing::kRunning));
  std::vector<OwnedBuffer> results;
  results.reserve(outputs.size());
  for (abi::Buffer* const output : outputs)
    results.emplace_back(shared_from_this(), output, Function::kBufferDestroy);
  LB_RETURN_IF_ERROR(api_->wait(done, Doing::kRunning));
  return results;
}

Status Client::download(const OwnedBuffer& buffer, void* data, std::size_t bytes) const {
  abi::ToHostArgs size;
  size.buffer = buffer.get();
  LB_RETURN_IF_ERROR(api_->call(Function::kBufferToHostBuffer, size, Doing::kRunning));
  if (size.size_of_data != bytes) {
    return Status(StatusCode::kInternal, fmt::format("the PJRT plug-in computed a result of {} bytes instead of {}",
                                                     size.size_of_data, bytes));
  }
  abi::ToHostArgs copy;
  copy.buffer = buffer.get();
  copy.data = data;
  copy.size_of_data = bytes;
  LB_RETURN_IF_ERROR(api_->call(Function::kBufferToHostBuffer, copy, Doing::kRunning));
  return api_->wait(copy.done, Doing::kRunning);
}

}  // namespace latebind::pjrt
