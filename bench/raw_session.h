// What the yardsticks share: a compiled model and its requests through OpenVINO's C interface alone, and texts as
// tokens.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "backends/openvino/handles.h"
#include "backends/openvino/load.h"
#include "bench/yardstick.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::bench {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kThreads = 2;
constexpr std::size_t kMaxTokens = 256;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Session {
 public:
  Session(const openvino::Library& library, const char* model, const char* precision, bool latency)
      : library_(library), api_(library.api), check_{library.api} {
    check_(api_.ov_core_create(&core_), "ov_core_create");
    openvino::abi::Model* network = nullptr;
    check_(api_.ov_core_read_model(core_, model, nullptr, &network), "ov_core_read_model");
    const std::string threads = std::to_string(kThreads);
    const std::string streams = latency ? "1" : threads;
    const auto start = Clock::now();
    check_(api_.ov_core_compile_model(core_, network, "CPU", 8, &compiled_, "PERFORMANCE_HINT",
                                      latency ? "LATENCY" : "THROUGHPUT", "INFERENCE_PRECISION_HINT", precision,
                                      "NUM_STREAMS", streams.c_str(), "INFERENCE_NUM_THREADS", threads.c_str()),
           "ov_core_compile_model");
    compile_ms = seconds_since(start) * 1000;
    api_.ov_model_free(network);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    api_.ov_compiled_model_free(compiled_);
    api_.ov_core_free(core_);
  }

  openvino::InferRequestHandle request() const {
    openvino::abi::InferRequest* made = nullptr;
    check_(api_.ov_compiled_model_create_infer_request(compiled_, &made), "ov_compiled_model_create_infer_request");
    return {api_, made};
  }

  // Runs `rows` texts of `width` tokens, whose inputs are in the model's order, and copies the output. `async`: as
  // those do who run several at once.
  void run(const openvino::InferRequestHandle& request, std::size_t rows, std::size_t width,
           std::span<std::int64_t* const> inputs, std::vector<float>& out, bool async) const {
    std::int64_t dims[2] = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      openvino::abi::Tensor* tensor = nullptr;
      check_(api_.ov_tensor_create_from_host_ptr(library_.element_types.code_of(core::ElementType::kI64), {2, dims},
                                                 inputs[i], &tensor),
             "ov_tensor_create_from_host_ptr");
      check_(api_.ov_infer_request_set_input_tensor_by_index(request.get(), i, tensor), "set_input_tensor");
      api_.ov_tensor_free(tensor);
    }
    if (async) {
      check_(api_.ov_infer_request_start_async(request.get()), "ov_infer_request_start_async");
      check_(api_.ov_infer_request_wait_for(request.get(), 3'600'000), "ov_infer_request_wait_for");
    } else {
      check_(api_.ov_infer_request_infer(request.get()), "ov_infer_request_infer");
    }
    openvino::abi::Tensor* tensor = nullptr;
    void* data = nullptr;
    std::size_t bytes = 0;
    check_(api_.ov_infer_request_get_output_tensor_by_index(request.get(), 0, &tensor), "get_output_tensor");
    check_(api_.ov_tensor_data(tensor, &data), "ov_tensor_data");
    check_(api_.ov_tensor_get_byte_size(tensor, &bytes), "ov_tensor_get_byte_size");
    out.resize(bytes / sizeof(float));
    std::memcpy(out.data(), data, bytes);
    api_.ov_tensor_free(tensor);
  }

  double compile_ms = 0;

 private:
  const openvino::Library& library_;
  const openvino::abi::Api& api_;
  Check check_;
  openvino::abi::Core* core_ = nullptr;
  openvino::abi::CompiledModel* compiled_ = nullptr;
};

inline std::vector<std::string> read_lines(const char* file) {
  std::ifstream in(file);
  if (!in) die(fmt::format("cannot open {}", file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  if (lines.empty()) die(fmt::format("{} has no text", file));
  return lines;
}

struct Tokens {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::uint32_t> lengths;
};

inline Tokens tokenize(const embedding::Tokenizer& tokenizer, const std::vector<std::string>& texts,
                       std::size_t max_tokens = kMaxTokens) {
  Tokens tokens;
  tokens.ids.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto status = tokenizer.encode(texts[i], max_tokens, tokens.ids[i]);
    if (!status.ok()) die(status.to_string());
    tokens.lengths.push_back(static_cast<std::uint32_t>(tokens.ids[i].size()));
  }
  return tokens;
}

inline void pad(const Tokens& tokens, std::span<const std::uint32_t> rows, std::size_t width,
                std::vector<std::int64_t>& ids, std::vector<std::int64_t>& mask) {
  ids.assign(rows.size() * width, 0);
  mask.assign(rows.size() * width, 0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto& text = tokens.ids[rows[r]];
    std::copy(text.begin(), text.end(), ids.begin() + static_cast<std::ptrdiff_t>(r * width));
    std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(r * width), text.size(), 1);
  }
}

}  // namespace latebind::bench
