// The group "table": how a plug-in's library is opened, and its versions.
#include <fmt/format.h>

#include <cstring>

#include "core/platform/dynamic_library.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/raw/kept.h"

namespace latebind::kit {
namespace {

using core::Result;

Result<Finding> open(Context& context) {
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
  Finding finding = passed(fmt::format("{} {}, version {} of the contract, {} settings", plugin->name, plugin->version,
                                       plugin->slots.abi, plugin->settings.size()));
  finding.data = core::Json::object({{"name", plugin->name}, {"version", plugin->version}, {"maker", plugin->maker}});
  return finding;
}

// Calls the plug-in's entry with a host.
Result<const lbb_table*> enter(Context& context, const lbb_host& host) {
  context.step("opening the library");
  LB_ASSIGN_OR_RETURN(auto library, platform::DynamicLibrary::open(context.subject().library()));
  library.leak();
  void* const symbol = library.symbol(LBB_ENTRY);
  if (symbol == nullptr) return wrong(fmt::format("the library does not export {}()", LBB_ENTRY));
  const lbb_table* table = nullptr;
  context.step(LBB_ENTRY "()");
  LB_RETURN_IF_ERROR(call_slot("the plug-in", LBB_ENTRY, [&](lbb_error* error) {
    return reinterpret_cast<lbb_entry>(symbol)(&host, &table, error);
  }));
  return table;
}

Result<Finding> refuse_unknown_versions(Context& context) {
  constexpr std::uint32_t kFirstUnknown = 1000;
  static lbb_host later = watching_host();
  later.abi_least = kFirstUnknown;
  later.abi_most = kFirstUnknown + 1;
  const auto table = enter(context, later);
  if (table.ok()) {
    return wrong(fmt::format("takes a host that speaks only versions {} to {} of the contract", later.abi_least,
                             later.abi_most));
  }
  if (table.status().code() != core::StatusCode::kUnsupported)
    return wrong(fmt::format("refuses a host of other versions with {} and not with LBB_UNSUPPORTED: {}",
                             core::name_of(table.status().code()), table.status().to_string()));
  return passed(std::string(table.status().message()));
}

Result<Finding> take_larger_host(Context& context) {
  constexpr std::size_t kGrowth = 256;
  // The host stays valid as long as the process.
  auto* const memory = new std::byte[sizeof(lbb_host) + kGrowth];  // NOLINT(cppcoreguidelines-owning-memory)
  std::memset(memory, 0xA5, sizeof(lbb_host) + kGrowth);
  std::memcpy(memory, &watching_host(), sizeof(lbb_host));
  auto* const host = reinterpret_cast<lbb_host*>(memory);
  host->struct_size = sizeof(lbb_host) + kGrowth;
  host->abi_most = LBB_ABI + 1;
  LB_ASSIGN_OR_RETURN(const lbb_table* const table, enter(context, *host));
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, plugin::check_table(table, *host));
  lbb_backend* backend = nullptr;
  context.step("create()");
  LB_RETURN_IF_ERROR(call_slot(plugin->name, "create", [&](lbb_error* error) {
    return plugin->slots.create(host, nullptr, 0, &backend, error);
  }));
  context.step("destroy()");
  plugin->slots.destroy(backend);
  return passed();
}

constexpr Check kTableChecks[] = {
    {.name = "table.open",
     .what = "The library opens, and its table has a size, all required slots, a known version, a name and settings.",
     .scope = Scope::kPlugin,
     .run = open,
     .time = std::chrono::seconds(20),
     .is_prerequisite = true},
    {.name = "table.versions",
     .what = "A host that speaks only unknown versions of the contract is refused with LBB_UNSUPPORTED and a message.",
     .scope = Scope::kPlugin,
     .run = refuse_unknown_versions,
     .time = std::chrono::seconds(20)},
    {.name = "table.larger_host",
     .what = "A host whose struct is larger and that speaks one version more is taken.",
     .scope = Scope::kPlugin,
     .run = take_larger_host,
     .time = std::chrono::seconds(20)}};

}  // namespace

std::span<const Check> table_checks() {
  return kTableChecks;
}

}  // namespace latebind::kit
