// OpenVINO's C interface alone: exports a model as a blob, imports it, and runs it.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/openvino/load.h"
#include "bench/yardstick.h"
#include "core/tensor/tensor.h"
#include "formats/pte/writer.h"

namespace latebind::bench {

// One model with static shapes, its inputs, and where its output goes.
struct Job {
  std::string onnx_file;
  pte::ProgramSpec spec;
  ::executorch::aten::ScalarType type = ::executorch::aten::ScalarType::Float;
  core::ElementType element = core::ElementType::kF32;
  std::vector<std::int32_t> sizes;
  std::vector<std::byte> data;

  [[nodiscard]] std::size_t input_bytes() const { return data.size() / spec.inputs.size(); }
};

class Raw {
 public:
  Raw(const openvino::Library& library, const std::string& precision)
      : library_(library), api_(library.api), check_{library.api} {
    check_(api_.ov_core_create(&core_), "ov_core_create");
    if (!precision.empty()) {
      check_(api_.ov_core_set_property(core_, "CPU", "INFERENCE_PRECISION_HINT", precision.c_str()), "set_property");
    }
    check_(api_.ov_core_set_property(core_, "CPU", "PERFORMANCE_HINT", "LATENCY"), "set_property");
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    if (request_ != nullptr) api_.ov_infer_request_free(request_);
    if (compiled_ != nullptr) api_.ov_compiled_model_free(compiled_);
    api_.ov_core_free(core_);
  }

  void export_blob(const Job& job, const std::string& file) const {
    openvino::abi::Model* model = nullptr;
    openvino::abi::CompiledModel* compiled = nullptr;
    check_(api_.ov_core_read_model(core_, job.onnx_file.c_str(), nullptr, &model), "ov_core_read_model");
    check_(api_.ov_core_compile_model(core_, model, "CPU", 0, &compiled), "ov_core_compile_model");
    check_(api_.ov_compiled_model_export_model(compiled, file.c_str()), "ov_compiled_model_export_model");
    api_.ov_compiled_model_free(compiled);
    api_.ov_model_free(model);
  }

  void import(std::string_view blob) {
    check_(api_.ov_core_import_model(core_, blob.data(), blob.size(), "CPU", &compiled_), "ov_core_import_model");
    check_(api_.ov_compiled_model_create_infer_request(compiled_, &request_), "create_infer_request");
  }

  void bind(Job& job) const {
    std::array<std::int64_t, 2> dims{job.sizes[0], job.sizes[1]};
    for (std::size_t i = 0; i < job.spec.inputs.size(); ++i) {
      openvino::abi::Tensor* tensor = nullptr;
      check_(api_.ov_tensor_create_from_host_ptr(library_.element_types.code_of(job.element), {2, dims.data()},
                                                 job.data.data() + i * job.input_bytes(), &tensor),
             "ov_tensor_create_from_host_ptr");
      check_(api_.ov_infer_request_set_input_tensor_by_index(request_, i, tensor), "set_input_tensor");
      api_.ov_tensor_free(tensor);
    }
  }
  void run() const { check_(api_.ov_infer_request_infer(request_), "ov_infer_request_infer"); }

 private:
  const openvino::Library& library_;
  const openvino::abi::Api& api_;
  Check check_;
  openvino::abi::Core* core_ = nullptr;
  openvino::abi::CompiledModel* compiled_ = nullptr;
  openvino::abi::InferRequest* request_ = nullptr;
};

}  // namespace latebind::bench
