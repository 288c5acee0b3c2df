// How functions of the C interface read the texts and options of a call, and compute results. Callable from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "api/c_objects.h"
#include "api/c_results.h"
#include "core/result.h"
#include "embedding/encoder.h"

namespace latebind::api {

// The most texts in one call.
inline constexpr std::size_t kTextsMax = std::size_t{1} << 28;
// kInvalidArgument for more than kTextsMax texts, and for texts that are NULL although `count` is not 0. `what` is the
// function's name.
[[nodiscard]] core::Status check_texts(const void* texts, std::size_t count, std::string_view what);

// kInvalidArgument for what check_texts() refuses, and for a text whose data is NULL, with its position.
[[nodiscard]] core::Result<std::vector<std::string_view>> read_texts(const lb_text* texts, std::size_t count,
                                                                     std::string_view what);

// lb_encode_options. The views in it refer to the caller's memory.
struct EncodeCall {
  embedding::TextOptions texts{};
  bool alone = false;
  bool raw_scores = false;
  std::span<const lb_output_request> outputs{};  // empty: all outputs
};
[[nodiscard]] core::Result<EncodeCall> read_encode_options(const lb_encode_options* given);
[[nodiscard]] core::Result<embedding::TextRole> read_role(std::int32_t role, std::string_view field);

// An output of an encoder that a call requests.
struct RequestedOutput {
  std::size_t position = 0;  // in Encoder::outputs()
  const embedding::Output* output = nullptr;
  std::size_t dimension = 0;
  std::size_t dimensions = 0;  // that the call keeps of them
  lb_output_request request{};
};
// Finds the requested outputs. kInvalidArgument for an output that is unknown or requested twice, and for options that
// do not fit its form; `what` is the function's name.
[[nodiscard]] core::Result<std::vector<RequestedOutput>> find_requested(const embedding::Encoder& encoder,
                                                                        const EncodeCall& call, std::string_view what);

// Gives ragged vectors length 1 if the call wants it and the output does not.
[[nodiscard]] bool must_normalize(const embedding::Output& output, const EncodeCall& call);
void normalize_rows(std::span<float> numbers, std::size_t dimension);

// kInvalidArgument if the encoder takes another input than `input`.
[[nodiscard]] core::Status check_input(const lb_encoder& encoder, const embedding::Input& input, std::string_view what);

[[nodiscard]] core::Status write_stats(const embedding::EmbedStats& stats, lb_encode_stats* out);

}  // namespace latebind::api
