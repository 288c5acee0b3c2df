// Latebind's request for any outputs of a model, all of one pass: the text of docs/serving.md#any-outputs describes it.
#pragma once

#include "server/protocols/json_body.h"
#include "server/protocols/route.h"

namespace latebind::server::own {

void encode(const ExchangePtr& exchange, const PathValues& values, Service& service);
[[nodiscard]] app::Json encode_body();
[[nodiscard]] app::Json encode_answer();

}  // namespace latebind::server::own
