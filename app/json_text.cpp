#include "app/json_text.h"

#include <cmath>

namespace latebind::app {

std::string reason_of(const core::Status& status) {
  return status.ok() ? std::string() : status.to_string();
}

double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

}  // namespace latebind::app
