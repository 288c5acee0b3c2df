// The member `mix` of bodies that rank documents: the weights of a model's mixed score. Pure functions; any thread.
#pragma once

#include <optional>

#include "embedding/comparison.h"
#include "server/protocols/json_body.h"

namespace latebind::server {

// Reads three numbers. Returns the problem with them.
[[nodiscard]] Problem read_mix(const Json& value, std::optional<embedding::MixedWeights>& mix);
[[nodiscard]] app::Json mix_schema();

// For bodies with a member std::optional<embedding::MixedWeights> `mix`.
template <class Body>
constexpr Member<Body> kMix{"mix", false, mix_schema,
                            [](const Json& value, Body& body) { return read_mix(value, body.mix); }};

}  // namespace latebind::server
