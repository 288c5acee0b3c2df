// What a Package holds. Internal to package.cpp and package_verify.cpp.
#pragma once

#include <map>
#include <string>

#include "core/bundle/package.h"

namespace latebind::core {

struct Package::State {
  PackageFiles files;
  Manifest manifest;
  std::map<std::string, std::string> assets;
};

}  // namespace latebind::core
