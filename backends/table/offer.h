// Offers a backend of core/ as a plug-in: the other direction of backends/plugin/. A shared library that exports
// enter<kOffer> under the name LBB_ENTRY is a plug-in.
//
// The table lives as long as the process; its slots may be called from any thread, as the contract says.
#pragma once

#include <memory>
#include <span>

#include "backends/plugin/contract.h"
#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"

namespace latebind::table {

// A backend to offer. Constant data.
struct Offer {
  const char* name;     // that of the backend
  const char* version;  // of the plug-in
  // The backend's settings, whose keys begin with its name and a dot.
  std::span<const core::BackendSetting> settings;
  // Creates the backend from its settings, and opens nothing.
  std::shared_ptr<core::Backend> (*make)(const core::BackendSettingTexts& texts);
};

// Makes the table of an offer. The slots for what the backend lacks (Backend::capabilities()) are null.
[[nodiscard]] const lbb_table* make_table(const Offer& offer, decltype(lbb_table::create) create);

// The slot lbb_table.create of an offer.
[[nodiscard]] lbb_code create_offered(const Offer& offer, const lbb_host* host, const lbb_pair* const* settings,
                                      std::size_t count, lbb_backend** backend, lbb_error* error) noexcept;

// Refuses a host that speaks no version of the contract with this code.
[[nodiscard]] lbb_code check_host(const lbb_host* host, lbb_error* error) noexcept;

template <const Offer& kOffer>
const lbb_table* table_of() {
  static const lbb_table* const table = make_table(
      kOffer, [](const lbb_host* host, const lbb_pair* const* settings, std::size_t count, lbb_backend** backend,
                 lbb_error* error) { return create_offered(kOffer, host, settings, count, backend, error); });
  return table;
}

// The function that a plug-in exports.
template <const Offer& kOffer>
lbb_code enter(const lbb_host* host, const lbb_table** table, lbb_error* error) noexcept {
  if (const lbb_code refused = check_host(host, error); refused != LBB_OK) return refused;
  *table = table_of<kOffer>();
  return LBB_OK;
}

}  // namespace latebind::table
