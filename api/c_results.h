// lb_results: the results of a call, or of a window of a stream, by output. Immutable once a call has returned it; safe
// for concurrent use. Needs no thread, so it remains valid after fork().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "embedding/outputs/output.h"
#include "embedding/results.h"
#include "include/latebind/latebind.h"

struct lb_results {
  // The results of one output. The pointers refer to the memory below them, to the caller's, or to a stream's.
  struct Part {
    std::string_view name;  // static
    std::int32_t form = LB_FORM_DENSE;
    std::size_t dimension = 0;
    const float* numbers = nullptr;  // rows, the vectors of tokens, or the weights of sparse vectors
    const std::size_t* begins = nullptr;
    const std::uint32_t* indices = nullptr;

    std::unique_ptr<float[]> own_rows{};
    latebind::embedding::RaggedRows own_ragged{};
    std::vector<std::size_t> own_begins{};
    std::vector<std::uint32_t> own_indices{};
    std::vector<float> own_values{};
  };

  std::size_t count = 0;
  std::vector<Part> parts{};  // in the order of the request
  std::vector<std::uint32_t> own_token_counts{};
  std::span<const std::uint32_t> token_counts{};
};

namespace latebind::api {

// LB_FORM_… of an output.
[[nodiscard]] std::int32_t form_of(const embedding::Output& output);

// Stores sparse vectors as compressed rows.
void set_sparse(lb_results::Part& part, std::span<const embedding::SparseVector> vectors);

// Stores the boundaries of ragged rows that are elsewhere.
void set_begins(lb_results::Part& part, std::span<const std::uint32_t> vector_counts);

}  // namespace latebind::api
