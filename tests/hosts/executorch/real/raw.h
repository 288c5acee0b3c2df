// OpenVINO run directly, by its C interface alone: what the numbers of the delegate are compared with.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/openvino/handles.h"
#include "backends/openvino/load.h"

namespace latebind::test {

class RawOpenvino {
 public:
  // Compiles an ONNX model for the CPU; `precision` empty: whatever OpenVINO likes.
  RawOpenvino(const openvino::Library& library, const std::string& onnx_file, const std::string& precision)
      : library_(library), api_(library.api) {
    check(api_.ov_core_create(&core_), "ov_core_create");
    if (!precision.empty()) set("INFERENCE_PRECISION_HINT", precision);
    openvino::abi::Model* model = nullptr;
    check(api_.ov_core_read_model(core_, onnx_file.c_str(), nullptr, &model), "ov_core_read_model");
    check(api_.ov_core_compile_model(core_, model, "CPU", 0, &compiled_), "ov_core_compile_model");
    api_.ov_model_free(model);
    make_request();
  }
  // Imports a blob.
  RawOpenvino(const openvino::Library& library, std::string_view blob, const std::string& precision)
      : library_(library), api_(library.api) {
    check(api_.ov_core_create(&core_), "ov_core_create");
    if (!precision.empty()) set("INFERENCE_PRECISION_HINT", precision);
    check(api_.ov_core_import_model(core_, blob.data(), blob.size(), "CPU", &compiled_), "ov_core_import_model");
    make_request();
  }
  RawOpenvino(const RawOpenvino&) = delete;
  RawOpenvino& operator=(const RawOpenvino&) = delete;
  ~RawOpenvino() {
    api_.ov_infer_request_free(request_);
    api_.ov_compiled_model_free(compiled_);
    api_.ov_core_free(core_);
  }

  void export_to(const std::string& file) const {
    check(api_.ov_compiled_model_export_model(compiled_, file.c_str()), "ov_compiled_model_export_model");
  }

  // Two i64 inputs [1,length], one f32 output.
  std::vector<float> run(std::int64_t* ids, std::int64_t* mask, std::int64_t length) const {
    std::array<std::int64_t, 2> dims{1, length};
    std::size_t index = 0;
    for (std::int64_t* data : {ids, mask}) {
      openvino::abi::Tensor* tensor = nullptr;
      check(api_.ov_tensor_create_from_host_ptr(library_.element_types.code_of(core::ElementType::kI64),
                                                {2, dims.data()}, data, &tensor),
            "ov_tensor_create_from_host_ptr");
      check(api_.ov_infer_request_set_input_tensor_by_index(request_, index++, tensor), "set_input_tensor");
      api_.ov_tensor_free(tensor);
    }
    check(api_.ov_infer_request_infer(request_), "ov_infer_request_infer");
    openvino::abi::Tensor* output = nullptr;
    check(api_.ov_infer_request_get_output_tensor_by_index(request_, 0, &output), "get_output_tensor");
    std::size_t bytes = 0;
    void* data = nullptr;
    check(api_.ov_tensor_get_byte_size(output, &bytes), "ov_tensor_get_byte_size");
    check(api_.ov_tensor_data(output, &data), "ov_tensor_data");
    const auto* values = static_cast<const float*>(data);
    std::vector<float> out(values, values + bytes / sizeof(float));
    api_.ov_tensor_free(output);
    return out;
  }

 private:
  void set(const char* key, const std::string& value) const {
    check(api_.ov_core_set_property(core_, "CPU", key, value.c_str()), "ov_core_set_property");
  }
  void make_request() { check(api_.ov_compiled_model_create_infer_request(compiled_, &request_), "create_request"); }
  void check(openvino::abi::Code code, const char* call) const {
    EXPECT_EQ(code, openvino::abi::kOk) << call << ": " << api_.ov_get_last_err_msg();
  }

  const openvino::Library& library_;
  const openvino::abi::Api& api_;
  openvino::abi::Core* core_ = nullptr;
  openvino::abi::CompiledModel* compiled_ = nullptr;
  openvino::abi::InferRequest* request_ = nullptr;
};

}  // namespace latebind::test
