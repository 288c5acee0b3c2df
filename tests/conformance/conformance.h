// The conformance suite: what every device of every backend must do alike. ConformanceTest asks that of those that read
// ONNX models, GraphConformanceTest of all: it has graphs of ours.
//
// The vendors' libraries are those of build/runtime/venv, or the ones that LATEBIND_OPENVINO_LIBRARY and
// LATEBIND_ONNXRUNTIME_LIBRARY name, so that one program serves a whole matrix of versions. A backend whose library is
// not there fails its tests with the backend's own words. LATEBIND_CONFORMANCE_BACKENDS (names with commas) limits the
// suite to some backends, and "plugin:" before a name takes the backend through the contract for plug-ins, from a
// library of tests/plugin/; LATEBIND_CONFORMANCE_EDGE is how long the edge of the matrix is that takes too long (512),
// and LATEBIND_TEST_ENCODERS_ONE_IN leaves most of the random encoders out, where everything is slow.
// LATEBIND_CONFORMANCE_KEEP is a folder for the models that devices take, as TEST-N.onnx: for tests of other ways to
// them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/tensor/tensor.h"
#include "tests/support/onnx_builder.h"

namespace latebind::test {

using core::ElementType;
using core::OutputTensor;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorView;

// A device under test, or the reason why a backend has none.
struct Target {
  std::string made_by;  // for make_test_backend(): "native", "plugin:native"
  std::string device;
  std::string problem;
  std::string backend{};  // "native"

  friend std::ostream& operator<<(std::ostream& out, const Target& target) {
    return out << target.made_by << ":" << target.device;
  }
};

// Each call makes a backend of its own.
std::shared_ptr<core::Backend> make_test_backend(const std::string& name);

class ConformanceTest : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override;
  // Waits for the calls that were given up: the next test has the machine to itself.
  void TearDown() override;

  [[nodiscard]] core::Result<std::unique_ptr<core::Executable>> try_load(
      const core::Model& model, const core::CompileOptions& options = {}) const;
  // Fails the test and gives null when the model cannot be loaded.
  [[nodiscard]] std::unique_ptr<core::Executable> load(const core::Model& model,
                                                       const core::CompileOptions& options = {}) const;
  [[nodiscard]] std::unique_ptr<core::Executable> load(const OnnxBuilder& builder,
                                                       const core::CompileOptions& options = {}) const {
    return load(builder.model(), options);
  }
  // It names the device under test, in f32, with so many requests.
  void expect_to_name_the_device(const core::ActiveConfig& active, unsigned requests) const;
  // True where a device of a provider's, which need not have every operator, says that it does not have this one.
  [[nodiscard]] bool refuses_operator(const Status& status, const std::string& name) const;
  [[nodiscard]] bool is(std::string_view backend) const { return GetParam().backend == backend; }

  std::shared_ptr<core::Backend> backend_;
};

class GraphConformanceTest : public ConformanceTest {
 protected:
  // An encoder that has seconds of work with slow_batch(), and none with a short one.
  [[nodiscard]] std::unique_ptr<core::Executable> load_slow(unsigned requests) const;
};

// Row-major elements and their shape, owned.
template <class T>
struct Tensor {
  Shape shape;
  std::vector<T> values;

  [[nodiscard]] TensorView view(ElementType type) {
    TensorView view;
    view.data = values.data();
    view.type = type;
    view.shape = shape;
    return view;
  }
};

template <class T>
std::vector<T> values_of(const OutputTensor& output) {
  const auto count = output.view().shape.element_count();
  if (!count.ok()) return {};
  const T* data = static_cast<const T*>(output.view().data);
  return std::vector<T>(data, data + *count);
}

// y = x + x over f32.
OnnxBuilder doubling_model(const OnnxDims& dims);

// 0, 1, 2 … in the shape.
Tensor<float> counting(const Shape& shape);

// Runs a model with one input and one output.
Status run(core::Executable& executable, const TensorView& input, OutputTensor& output,
           const core::RunOptions& options = {});

// Runs the doubling model on counting(shape) and compares.
testing::AssertionResult doubles(core::Executable& executable, const Shape& shape);

// So many matrix products one after the other that a large input takes seconds and a small one no time.
OnnxBuilder slow_model();

// The large input: takes seconds on the machine itself. In emulation a smaller one does, and this one minutes, for a
// vendor may look at a deadline only between two products.
Tensor<float> large_input();

core::RunOptions within(std::chrono::milliseconds time);

// The status has this code, and its text these words.
void expect_words(const Status& status, StatusCode code, std::initializer_list<std::string> words);

#define EXPECT_OK(expression) EXPECT_EQ((expression).to_string(), "ok")
#define ASSERT_OK(expression) ASSERT_EQ((expression).to_string(), "ok")

}  // namespace latebind::test
