#include <utility>

#include "core/platform/service_manager.h"

namespace latebind::platform {

core::Result<std::vector<InheritedSocket>> inherited_sockets() {
  return std::vector<InheritedSocket>();
}

struct ServiceManager::Channel {};

ServiceManager::ServiceManager(std::unique_ptr<Channel> channel) noexcept : channel_(std::move(channel)) {}
ServiceManager::ServiceManager(ServiceManager&& other) noexcept = default;
ServiceManager& ServiceManager::operator=(ServiceManager&& other) noexcept = default;
ServiceManager::~ServiceManager() = default;

ServiceManager ServiceManager::from_environment(Warn) {
  return ServiceManager(nullptr);
}

bool ServiceManager::is_there() const noexcept {
  return false;
}

void ServiceManager::ready(std::string_view) {}
void ServiceManager::reloading() {}
void ServiceManager::stopping() {}
void ServiceManager::status(std::string_view) {}
void ServiceManager::watchdog() {}

std::optional<std::chrono::microseconds> ServiceManager::watchdog_interval() const noexcept {
  return std::nullopt;
}

}  // namespace latebind::platform
