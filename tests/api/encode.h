// Short forms of calls of an encoder, for tests of the C interface.
#pragma once

#include <cstddef>
#include <span>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"

namespace latebind::test {

// The length of a row of the first output; 0 on error.
inline std::size_t dimension_of(const lb_encoder* encoder) {
  auto output = LB_INIT(lb_output_info);
  return lb_encoder_output(encoder, 0, &output) == LB_OK ? output.dimension : 0;
}

// Options for a call that writes the rows of the first output to `rows`.
class IntoRows {
 public:
  explicit IntoRows(std::span<float> rows, const lb_encode_options* options = nullptr)
      : request_{nullptr, rows.data(), rows.size()} {
    if (options != nullptr) options_ = *options;
    if (request_.rows == nullptr) return;
    options_.outputs = &request_;
    options_.output_count = 1;
  }
  IntoRows(const IntoRows&) = delete;
  IntoRows& operator=(const IntoRows&) = delete;
  ~IntoRows() = default;
  [[nodiscard]] const lb_encode_options* get() const { return &options_; }

 private:
  lb_output_request request_;
  lb_encode_options options_ = LB_INIT(lb_encode_options);
};

inline lb_code encode_into(std::span<float> rows, const lb_encoder* encoder, const lb_text* texts, std::size_t count,
                           const lb_encode_options* options = nullptr, const lb_call_options* call = nullptr,
                           lb_encode_stats* stats = nullptr) {
  return lb_encoder_encode(encoder, texts, count, IntoRows(rows, options).get(), call, nullptr, stats);
}

inline lb_code encode_ids_into(std::span<float> rows, const lb_encoder* encoder, const lb_token_ids* texts,
                               std::size_t count, const lb_encode_options* options = nullptr,
                               const lb_call_options* call = nullptr) {
  return lb_encoder_encode_ids(encoder, texts, count, IntoRows(rows, options).get(), call, nullptr, nullptr);
}

inline lb_code encode_pairs_into(std::span<float> rows, const lb_encoder* encoder, const lb_text_pair* pairs,
                                 std::size_t count, const lb_encode_options* options = nullptr,
                                 const lb_call_options* call = nullptr, lb_encode_stats* stats = nullptr) {
  return lb_encoder_encode_pairs(encoder, pairs, count, IntoRows(rows, options).get(), call, nullptr, stats);
}

}  // namespace latebind::test
