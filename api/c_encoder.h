// Templates shared by embedders and encoders of the C interface: opening a model, and attestation and tokenizer of its
// network. Every handle has `made`, `runtime` and `network()` (c_objects.h). Callable from any thread.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "embedding/embedder.h"

namespace latebind::api {

// The arguments of an lb_…_open function; `function` is its name, for messages.
struct OpenCall {
  std::string_view function;
  const lb_runtime* runtime = nullptr;
  const char* model_folder = nullptr;
  const lb_options* options = nullptr;
  const lb_call_options* call = nullptr;
};

// Opens a model for this output as a handle. `keep(handle, network)` stores the network in the handle.
template <class Handle, class Keep>
lb_code open_encoder(const OpenCall& given, std::string_view output, Handle** handle, const Keep& keep) {
  return guarded_work([&]() -> core::Status {
    if (given.runtime == nullptr || given.model_folder == nullptr || handle == nullptr) {
      return misuse(fmt::format("{}: NULL was given", given.function));
    }
    *handle = nullptr;
    auto made = std::make_unique<Handle>();
    made->runtime = given.runtime->shared;
    LB_ASSIGN_OR_RETURN(auto network,
                        open_network(*given.runtime, given.model_folder, given.options, given.call, output));
    keep(*made, std::move(network));
    *handle = made.release();
    return {};
  });
}

// The body of an lb_…_attestation function. `function` is its name, and `what` the handle's noun, for messages.
template <class Handle>
lb_code give_network_attestation(std::string_view function, std::string_view what, const Handle* handle,
                                 lb_attestation** attestation) {
  return guarded([&]() -> core::Status {
    if (handle == nullptr) return misuse(fmt::format("{}: NULL was given", function));
    LB_RETURN_IF_ERROR(check_made_here(handle->made, what));
    const embedding::Embedder& network = handle->network();
    return give_attestation(network.attestation(), attestation, network.hung_runs());
  });
}

// The network's tokenizer; for a router, with the tokenizers of both routes.
[[nodiscard]] core::Result<std::unique_ptr<lb_tokenizer>> tokenizer_of(const embedding::Embedder& network);

// The body of an lb_…_tokenizer function.
template <class Handle>
lb_code give_tokenizer(std::string_view function, std::string_view what, const Handle* handle,
                       lb_tokenizer** tokenizer) {
  return guarded([&]() -> core::Status {
    if (handle == nullptr || tokenizer == nullptr) return misuse(fmt::format("{}: NULL was given", function));
    *tokenizer = nullptr;
    LB_RETURN_IF_ERROR(check_made_here(handle->made, what));
    LB_ASSIGN_OR_RETURN(auto made, tokenizer_of(handle->network()));
    *tokenizer = made.release();
    return {};
  });
}

}  // namespace latebind::api
