#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <string_view>
#include <utility>

#include "backends/table/objects.h"
#include "backends/table/offer.h"
#include "backends/table/read_model.h"
#include "core/log.h"

namespace latebind::table {

using core::BlobLabel;
using core::Result;
using core::Status;
using core::StatusCode;

lbb_code report(const lbb_host& host, lbb_error* error, const Status& status) noexcept {
  try {
    const lbb_code code = host.fail(error, plugin::code_of(status.code()), std::string(status.message()).c_str());
    if (const auto vendor_code = status.vendor_code())
      host.fail_with_vendor(error, *vendor_code, std::string(status.vendor_text()).c_str());
    return code;
  } catch (...) {
    return LBB_OUT_OF_MEMORY;
  }
}

namespace {

// Whether the host may still be asked for memory that a loaded model refers to.
class HostMemory {
 public:
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }
  [[nodiscard]] bool is_referred_to() const { return owner_.use_count() > 1; }

 private:
  std::shared_ptr<const void> owner_ = std::make_shared<char>('\0');
};

std::vector<std::int32_t> numbers_of(const std::vector<core::Precision>& precisions) {
  std::vector<std::int32_t> numbers;
  for (const core::Precision precision : precisions)
    numbers.push_back(static_cast<std::int32_t>(precision));
  return numbers;
}

Status give_device(const lbb_host& host, lbb_devices* devices, const core::Device& device) {
  lbb_device given = plugin::sized<lbb_device>();
  given.name = device.name.c_str();
  given.kind = static_cast<std::int32_t>(device.kind);
  given.full_name = device.full_name.c_str();
  given.runtime_version = device.runtime_version.c_str();
  given.reads = LBB_READS_GRAPH | (device.traits.graphs_only ? 0U : LBB_READS_ONNX | LBB_READS_IR);
  const auto precisions =
      numbers_of(device.traits.precisions.empty() ? std::vector{core::Precision::kF32} : device.traits.precisions);
  given.precisions = precisions.data();
  given.precision_count = precisions.size();
  const auto preferred = numbers_of(device.traits.preferred_in);
  given.preferred_in = preferred.data();
  given.preferred_count = preferred.size();
  given.preferred_because = device.traits.preferred_because.c_str();
  given.architecture = device.traits.architecture.c_str();
  given.pci_id = device.traits.pci_id.c_str();
  given.static_shapes = device.traits.static_shapes ? 1 : 0;
  if (const auto& target = device.traits.virtual_device) {
    given.is_virtual = 1;
    given.missing = target->compiler == core::TargetCompiler::kMissing ? target->missing.c_str() : nullptr;
    given.is_emulated = target->is_emulated ? 1 : 0;
  }
  std::deque<lbb_pair> facts;
  std::vector<const lbb_pair*> list;
  for (const auto& [key, text] : device.metadata) {
    lbb_pair& fact = facts.emplace_back(plugin::sized<lbb_pair>());
    fact.key = key.c_str();
    fact.text = text.c_str();
    list.push_back(&fact);
  }
  given.facts = list.data();
  given.fact_count = list.size();
  if (host.add_device(devices, &given) == LBB_OK) return {};
  return Status(StatusCode::kInternal, fmt::format("the host refuses the device {}", device.name));
}

Status give_devices(const lbb_host& host, lbb_devices* to, const Result<std::vector<core::Device>>& devices) {
  LB_RETURN_IF_ERROR(devices.status());
  for (const core::Device& device : *devices)
    LB_RETURN_IF_ERROR(give_device(host, to, device));
  return {};
}

Status give_blob(const lbb_host& host, lbb_bytes* bytes, lbb_text* compatibility, const core::Blob& blob) {
  host.set_text(compatibility, blob.compatibility.c_str());
  if (host.write(bytes, blob.bytes.bytes.data(), blob.bytes.bytes.size()) == LBB_OK) return {};
  return Status(StatusCode::kOutOfMemory, "the host does not take the bytes of a blob");
}

void destroy(lbb_backend* backend) {
  delete backend;
}

lbb_code available(lbb_backend* backend, lbb_error* error) {
  return guarded(*backend->host, error, [&] { return backend->backend->available(); });
}

lbb_code devices(lbb_backend* backend, lbb_devices* devices, lbb_error* error) {
  return guarded(*backend->host, error,
                 [&] { return give_devices(*backend->host, devices, backend->backend->devices()); });
}

lbb_code virtual_devices(lbb_backend* backend, lbb_devices* devices, lbb_error* error) {
  return guarded(*backend->host, error, [&] {
    return give_devices(*backend->host, devices, backend->backend->capabilities().virtual_devices->virtual_devices());
  });
}

lbb_code runtime_version(lbb_backend* backend, lbb_text* version, lbb_error* error) {
  return guarded(*backend->host, error, [&]() -> Status {
    LB_ASSIGN_OR_RETURN(const std::string text, backend->backend->runtime_version());
    backend->host->set_text(version, text.c_str());
    return {};
  });
}

lbb_code load(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
              lbb_executable** executable, lbb_error* error) {
  return guarded(*backend->host, error, [&]() -> Status {
    const HostMemory memory;
    core::LoadedModel loaded;
    {
      LB_ASSIGN_OR_RETURN(const core::Model read, read_model(*backend->host, model, memory.owner()));
      LB_ASSIGN_OR_RETURN(const core::CompileOptions read_as, read_options(options));
      if (core::Blobs* const blobs = backend->backend->capabilities().blobs) {
        LB_ASSIGN_OR_RETURN(loaded, blobs->load_exporting(read, device, read_as));
      } else {
        LB_ASSIGN_OR_RETURN(loaded.executable, backend->backend->load(read, device, read_as));
      }
    }
    *executable = new lbb_executable(backend->host, std::move(loaded), memory.is_referred_to());
    return {};
  });
}

const lbb_active* describe_executable(lbb_executable* executable) {
  return &executable->active;
}

lbb_code prepare(lbb_executable* executable, lbb_error* error) {
  return guarded(*executable->host, error, [&] { return executable->executable->prepare(); });
}

void destroy_executable(lbb_executable* executable) {
  delete executable;
}

lbb_code compile(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                 lbb_bytes* bytes, lbb_text* compatibility, lbb_error* error) {
  return guarded(*backend->host, error, [&]() -> Status {
    const HostMemory memory;
    LB_ASSIGN_OR_RETURN(const core::Model read, read_model(*backend->host, model, memory.owner()));
    LB_ASSIGN_OR_RETURN(const core::CompileOptions read_as, read_options(options));
    core::LeftNodes left;
    const auto blob = backend->backend->capabilities().blobs->compile(read, device, read_as, left);
    for (const core::LeftNode& node : left.first)
      backend->host->add_left_node(bytes, node.op.c_str(), node.name.c_str(), node.shape.c_str());
    LB_RETURN_IF_ERROR(blob.status());
    return give_blob(*backend->host, bytes, compatibility, *blob);
  });
}

lbb_code check_blob(lbb_backend* backend, const lbb_blob_label* label, const char* device, const lbb_options* options,
                    lbb_error* error) {
  return guarded(*backend->host, error, [&]() -> Status {
    LB_ASSIGN_OR_RETURN(const BlobLabel read, read_label(label, backend->backend->name()));
    LB_ASSIGN_OR_RETURN(const core::CompileOptions read_as, read_options(options));
    return backend->backend->capabilities().blobs->check(read, device, read_as);
  });
}

lbb_code load_blob(lbb_backend* backend, const void* data, std::uint64_t size, const lbb_blob_label* label,
                   const char* device, const lbb_options* options, lbb_executable** executable, lbb_error* error) {
  return guarded(*backend->host, error, [&]() -> Status {
    const HostMemory memory;
    core::LoadedModel loaded;
    {
      core::Blob blob;
      LB_ASSIGN_OR_RETURN(static_cast<BlobLabel&>(blob), read_label(label, backend->backend->name()));
      LB_ASSIGN_OR_RETURN(const core::CompileOptions read_as, read_options(options));
      blob.bytes = {memory.owner(), {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)}};
      LB_ASSIGN_OR_RETURN(loaded.executable, backend->backend->capabilities().blobs->load_blob(blob, device, read_as));
    }
    *executable = new lbb_executable(backend->host, std::move(loaded), memory.is_referred_to());
    return {};
  });
}

lbb_code export_blob(lbb_executable* executable, lbb_bytes* bytes, lbb_text* compatibility, lbb_error* error) {
  return guarded(*executable->host, error, [&]() -> Status {
    if (!executable->export_blob) return Status(StatusCode::kUnsupported, "this model has no blob");
    LB_ASSIGN_OR_RETURN(const core::Blob blob, executable->export_blob());
    return give_blob(*executable->host, bytes, compatibility, blob);
  });
}

void why_not(lbb_backend* backend, const char* device, lbb_text* reason) {
  (void)guarded(*backend->host, nullptr, [&]() -> Status {
    const std::string text = backend->backend->capabilities().device_advice->why_not(device);
    if (!text.empty()) backend->host->set_text(reason, text.c_str());
    return {};
  });
}

void diagnose(lbb_backend* backend, lbb_diagnosis* to) {
  (void)guarded(*backend->host, nullptr, [&]() -> Status {
    const lbb_host& host = *backend->host;
    const core::BackendDiagnosis diagnosis = backend->backend->diagnosis(nullptr);
    for (const core::SearchStep& step : diagnosis.search)
      host.add_search_step(to, step.place.c_str(), step.source.c_str(), step.outcome.c_str(), step.opened ? 1 : 0);
    for (const core::UnavailablePart& part : diagnosis.unavailable)
      host.add_unavailable(to, part.name.c_str(), part.reason.c_str());
    host.set_install_hint(to, diagnosis.install_hint.c_str());
    return {};
  });
}

lbb_code known_errors(lbb_backend* backend, lbb_text* table, lbb_error* error) {
  return guarded(*backend->host, error, [&]() -> Status {
    LB_ASSIGN_OR_RETURN(const std::string text, backend->backend->capabilities().known_errors->known_errors());
    backend->host->set_text(table, text.c_str());
    return {};
  });
}

// A table with what it points to. Made once for an offer; lives as long as the process.
struct OfferedTable {
  lbb_table table = plugin::sized<lbb_table>();
  std::deque<lbb_setting> settings{};
  std::deque<std::vector<const char*>> words{};
  std::vector<const lbb_setting*> list{};
};

void add_settings(OfferedTable& to, std::span<const core::BackendSetting> settings) {
  for (const core::BackendSetting& setting : settings) {
    lbb_setting& given = to.settings.emplace_back(plugin::sized<lbb_setting>());
    // The texts are literals, which end with a NUL.
    given.key = setting.key.data() + setting.key.find('.') + 1;
    given.value = setting.value.data();
    given.help = setting.help.data();
    std::vector<const char*>& words = to.words.emplace_back();
    for (const std::string_view word : setting.words)
      words.push_back(word.data());
    given.words = words.data();
    given.word_count = words.size();
    to.list.push_back(&given);
  }
  to.table.settings = to.list.data();
  to.table.setting_count = to.list.size();
}

}  // namespace

const lbb_table* make_table(const Offer& offer, decltype(lbb_table::create) create) {
  auto* const made = new OfferedTable();
  add_settings(*made, offer.settings);
  lbb_table* const table = &made->table;
  table->abi = LBB_ABI;
  table->name = offer.name;
  table->version = offer.version;
  table->create = create;
  table->destroy = destroy;
  table->available = available;
  table->devices = devices;
  table->load = load;
  table->describe_executable = describe_executable;
  table->execute = execute;
  table->destroy_executable = destroy_executable;
  table->runtime_version = runtime_version;
  table->prepare = prepare;
  table->diagnose = diagnose;
  table->create_buffer = create_buffer;
  table->destroy_buffer = destroy_buffer;
  table->write_buffer = write_buffer;
  table->read_buffer = read_buffer;
  table->execute_to_buffers = execute_to_buffers;
  // It opens nothing, and what a backend offers does not change.
  const core::Capabilities has = offer.make({})->capabilities();
  if (has.blobs != nullptr) {
    table->compile = compile;
    table->check_blob = check_blob;
    table->load_blob = load_blob;
    table->export_blob = export_blob;
  }
  if (has.virtual_devices != nullptr) table->virtual_devices = virtual_devices;
  if (has.device_advice != nullptr) table->why_not = why_not;
  if (has.known_errors != nullptr) table->known_errors = known_errors;
  return table;
}

lbb_code create_offered(const Offer& offer, const lbb_host* host, const lbb_pair* const* settings, std::size_t count,
                        lbb_backend** backend, lbb_error* error) noexcept {
  return guarded(*host, error, [&]() -> Status {
    core::BackendSettingTexts texts;
    LB_RETURN_IF_ERROR(plugin::read_list("a setting", settings, count, [&](const lbb_pair& pair) -> Status {
      LB_ASSIGN_OR_RETURN(const std::string key, plugin::text_of("the key of a setting", pair.key));
      LB_ASSIGN_OR_RETURN(texts[fmt::format("{}.{}", offer.name, key)],
                          plugin::text_of("a setting", pair.text, plugin::kTextMax));
      return {};
    }));
    *backend = new lbb_backend{.host = host, .backend = offer.make(texts)};
    return {};
  });
}

lbb_code meet_host(const lbb_host* host, lbb_error* error) noexcept {
  // Older hosts lack functions that these slots call.
  constexpr std::size_t kNeeded = offsetof(lbb_host, set_install_hint) + sizeof(lbb_host::set_install_hint);
  if (host->struct_size >= kNeeded && host->abi_least <= LBB_ABI && host->abi_most >= LBB_ABI) {
    core::set_log_sink({.write = [](void* context, std::int32_t level,
                                    const char* text) { static_cast<const lbb_host*>(context)->log(level, text); },
                        .context = const_cast<lbb_host*>(host)},
                       core::LogLevel::kDebug);
    return LBB_OK;
  }
  return report(*host, error,
                Status(StatusCode::kUnsupported,
                       fmt::format("the plug-in speaks version {} of the contract and needs {} bytes of functions; the "
                                   "host speaks {} to {} and has {}",
                                   LBB_ABI, kNeeded, host->abi_least, host->abi_most, host->struct_size)));
}

}  // namespace latebind::table

lbb_executable::lbb_executable(const lbb_host* of, latebind::core::LoadedModel model, bool is_kept)
    : host(of), executable(std::move(model.executable)), export_blob(std::move(model.export_blob)) {
  const auto describe = [&](std::span<const latebind::core::TensorInfo> from, auto& list) {
    for (const latebind::core::TensorInfo& info : from) {
      lbb_tensor_info& given = infos.emplace_back(latebind::plugin::sized<lbb_tensor_info>());
      given.name = info.name.c_str();
      given.type = static_cast<std::int32_t>(info.type);
      given.dims = info.shape.dims().data();
      given.rank = info.shape.rank();
      given.upper = info.upper.size() == info.shape.rank() ? info.upper.data() : nullptr;
      list.push_back(&given);
    }
  };
  describe(executable->inputs(), inputs);
  describe(executable->outputs(), outputs);
  const latebind::core::ActiveConfig& config = executable->active();
  active = latebind::plugin::sized<lbb_active>();
  active.precision = static_cast<std::int32_t>(config.precision);
  active.threads = config.threads;
  active.requests = config.requests;
  active.device = config.device.c_str();
  active.full_name = config.device_full_name.c_str();
  active.library_file = config.library_file.c_str();
  active.runtime_version = config.runtime_version.c_str();
  active.inputs = inputs.data();
  active.input_count = inputs.size();
  active.outputs = outputs.data();
  active.output_count = outputs.size();
  active.releases_weights = is_kept ? 0 : 1;
  active.leaves_padding_out = config.leaves_padding_out ? 1 : 0;
  active.packs_tokens = config.packs_tokens ? 1 : 0;
  active.compiles_nothing = config.compiles_nothing ? 1 : 0;
  active.emulated = config.emulated ? 1 : 0;
  active.kept_shapes = config.kept_shapes;
  active.nodes = config.nodes;
  active.host_nodes = config.host_nodes;
}
