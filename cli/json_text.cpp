#include "cli/json_text.h"

#include <cmath>

namespace latebind::cli {

double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

}  // namespace latebind::cli
