#include "server/transport/refusal_pace.h"

#include <algorithm>

namespace latebind::server {

RefusalPace::Clock::duration RefusalPace::after(Clock::duration busy, Clock::time_point now) {
  const double price = static_cast<double>(std::max(busy, kLeast).count()) / processors_;
  const double most = static_cast<double>((kLongest + kBurst).count());
  const core::MutexLock lock(mutex_);
  paid_until_ = std::max(paid_until_, now) + Clock::duration(static_cast<Clock::rep>(std::min(price, most)));
  paid_until_ = std::min(paid_until_, now + kLongest + kBurst);
  return std::max(paid_until_ - now - kBurst, Clock::duration::zero());
}

}  // namespace latebind::server
