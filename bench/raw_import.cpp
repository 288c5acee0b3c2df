// The yardstick for starting from a blob: the least that OpenVINO's C interface needs from a blob to a vector.
//
//   raw_import LIBRARY BLOB [OTHER]
//
// OTHER is a library that the process has already when the clock starts: what the memory of a host that has it is
// measured beside. BLOB is mapped, imported for the CPU in f32 with two threads, and run once on one short text of
// given ids. Prints one JSON object: ms from the start of main(), or OTHER's being there, to the vector, and the peak
// resident memory.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "backends/openvino/load.h"
#include "bench/yardstick.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/system_info.h"

using namespace latebind;  // NOLINT: a program of one file, all of it about this
using bench::die;
using Clock = std::chrono::steady_clock;

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) die("usage: raw_import LIBRARY BLOB [OTHER]");
  if (argc == 4) {
    auto other = platform::DynamicLibrary::open(argv[3]);
    if (!other.ok()) die(other.status().to_string());
    other->leak();
  }
  const auto start = Clock::now();
  const auto library = openvino::open_library(argv[1]);
  if (!library.ok()) die(library.status().to_string());
  const openvino::abi::Api& api = (*library)->api;
  const bench::Check check{api};
  const auto blob = platform::MappedFile::open(argv[2]);
  if (!blob.ok()) die(blob.status().to_string());

  openvino::abi::Core* core = nullptr;
  check(api.ov_core_create(&core), "ov_core_create");
  check(api.ov_core_set_property(core, "CPU", "INFERENCE_PRECISION_HINT", "f32"), "ov_core_set_property");
  check(api.ov_core_set_property(core, "CPU", "INFERENCE_NUM_THREADS", "2"), "ov_core_set_property");
  const double opened_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  openvino::abi::CompiledModel* compiled = nullptr;
  check(api.ov_core_import_model(core, reinterpret_cast<const char*>(blob->bytes().data()), blob->bytes().size(), "CPU",
                                 &compiled),
        "ov_core_import_model");
  const double imported_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  openvino::abi::InferRequest* request = nullptr;
  check(api.ov_compiled_model_create_infer_request(compiled, &request), "ov_compiled_model_create_infer_request");
  // [CLS] … [SEP]
  std::array<std::int64_t, 8> ids{101, 1996, 4937, 7771, 2006, 1996, 13523, 102};
  std::array<std::int64_t, 8> mask{1, 1, 1, 1, 1, 1, 1, 1};
  std::array<std::int64_t, 2> dims{1, 8};
  std::size_t index = 0;
  for (std::int64_t* data : {ids.data(), mask.data()}) {
    openvino::abi::Tensor* tensor = nullptr;
    check(api.ov_tensor_create_from_host_ptr((*library)->element_types.code_of(core::ElementType::kI64),
                                             {2, dims.data()}, data, &tensor),
          "ov_tensor_create_from_host_ptr");
    check(api.ov_infer_request_set_input_tensor_by_index(request, index++, tensor), "set_input_tensor");
    api.ov_tensor_free(tensor);
  }
  check(api.ov_infer_request_infer(request), "ov_infer_request_infer");
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  fmt::print(
      "{{\"opened_ms\": {:.1f}, \"import_ms\": {:.1f}, \"first_run_ms\": {:.1f}, \"ms\": {:.1f}, \"rss_mb\": "
      "{:.1f}}}\n",
      opened_ms, imported_ms - opened_ms, ms - imported_ms, ms,
      static_cast<double>(platform::peak_resident_bytes()) / (1 << 20));
  std::fflush(stdout);
  // The vendor's threads and memory go with the process: what is measured is over.
  std::_Exit(0);
}
