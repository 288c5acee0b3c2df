// The content of a Package. Internal to package*.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/bundle/package.h"

namespace latebind::core {

struct Package::State {
  PackageFiles files;
  Manifest manifest;
  std::map<std::string, std::string> assets;
};

// Whether the file that the variant refers to has to be made from a difference.
[[nodiscard]] inline bool is_difference(const Variant& variant, std::string_view reference) {
  return variant.latebind && variant.latebind->difference && variant.latebind->model == reference;
}

}  // namespace latebind::core
