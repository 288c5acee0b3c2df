// Callers who are in a hurry, or wrong, on a device that works: they go, it stays in charge, and no work is added.
#include <thread>
#include <vector>

#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

using std::chrono::milliseconds;

// The device under test first, and another backend's that could take over.
class Placed {
 public:
  Placed(const Target& target, const std::shared_ptr<core::Backend>& backend, unsigned requests,
         const OnnxBuilder& model = slow_model()) {
    EXPECT_OK(registry_.add(backend));
    const std::string other = target.backend == "openvino" ? "onnxruntime" : "openvino";
    const auto second = make_test_backend(other);
    std::string placement = target.backend + ":" + target.device;
    if (second->available().ok()) {
      EXPECT_OK(registry_.add(second));
      placement += "," + other + ":CPU";
    }
    core::LoadOptions options;
    options.compile.requests = requests;
    const auto parsed = core::Placement::parse(placement, registry_);
    EXPECT_OK(parsed.status());
    if (!parsed.ok()) return;
    auto placed = core::Engine(registry_).load(model.model(), *parsed, options);
    EXPECT_OK(placed.status());
    if (placed.ok()) model_ = *std::move(placed);
  }

  [[nodiscard]] core::PlacedModel* model() const { return model_.get(); }
  Status ask(Tensor<float>& input, const core::RunOptions& options, std::string* by = nullptr) {
    const TensorView view = input.view(ElementType::kF32);
    OutputTensor output;
    std::shared_ptr<const core::Attestation> answered_by;
    Status status = model_->execute({&view, 1}, {&output, 1}, options, &answered_by);
    if (status.ok() && by != nullptr) *by = answered_by->active.id();
    return status;
  }

 private:
  core::Registry registry_;
  std::shared_ptr<core::PlacedModel> model_;
};

TEST_P(ConformanceTest, FourteenRunsWithFiveMillisecondsLeaveTheDeviceInCharge) {
  Placed placed(GetParam(), backend_, 2);
  ASSERT_NE(placed.model(), nullptr);
  auto large = large_input();
  int busy = 0;
  for (int i = 0; i < 14; ++i) {
    const auto status = placed.ask(large, within(milliseconds(5)));
    EXPECT_TRUE(status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kBusy)
        << status.to_string();
    if (status.code() == StatusCode::kBusy) ++busy;
    // Two at work, and two that have just let go of their places and are still counted.
    EXPECT_LE(placed.model()->hung_runs(), 4U) << "no work is added";
  }
  // Where a run stops when it is told to, its place may be free again.
  if (is("openvino")) {
    EXPECT_GE(busy, 8);
  }
  EXPECT_FALSE(placed.model()->attestation()->fallback) << placed.model()->attestation()->reason;
  Tensor<float> small{Shape{1, 1}, {1.0F}};
  std::string by;
  EXPECT_OK(placed.ask(small, {}, &by));
  EXPECT_EQ(by, GetParam().backend + ":" + GetParam().device);
  EXPECT_FALSE(placed.model()->attestation()->fallback) << placed.model()->attestation()->reason;
}

TEST_P(ConformanceTest, ARequestThatNoDeviceCanComputeIsTheCallersMistakeAndLeavesThemInCharge) {
  // As a model of 512 positions that is given 600 tokens.
  const std::vector<float> positions{1, 2, 3, 4, 5};
  OnnxBuilder model;
  model.input("x", ElementType::kF32, {"rows", "length"}).output("y", ElementType::kF32, {"rows", ""});
  model.constant<float>("positions", ElementType::kF32, {1, 5}, positions).node("Add", {"x", "positions"}, {"y"});
  Placed placed(GetParam(), backend_, 2, model);
  ASSERT_NE(placed.model(), nullptr);
  Tensor<float> right{Shape{1, 5}, {1, 1, 1, 1, 1}};
  Tensor<float> wrong{Shape{1, 3}, {1, 1, 1}};
  // Also where it has computed nothing yet.
  EXPECT_EQ(placed.ask(wrong, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_OK(placed.ask(right, {}));
  for (int i = 0; i < 3; ++i) {
    const auto status = placed.ask(wrong, {});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    EXPECT_NE(status.vendor_text(), "") << status.to_string();
  }
  std::string by;
  EXPECT_OK(placed.ask(right, {}, &by));
  EXPECT_EQ(by, GetParam().backend + ":" + GetParam().device);
  EXPECT_FALSE(placed.model()->attestation()->fallback) << placed.model()->attestation()->reason;
}

TEST_P(ConformanceTest, ManyWhoAreInAHurryAreAnsweredInTimeOrToldSo) {
  Placed placed(GetParam(), backend_, 2);
  ASSERT_NE(placed.model(), nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      auto large = large_input();
      Tensor<float> small{Shape{1, 1}, {1.0F}};
      for (int i = 0; i < 10; ++i) {
        const auto status = placed.ask((t + i) % 2 == 0 ? large : small, within(milliseconds(5)));
        EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDeadlineExceeded || status.code() == StatusCode::kBusy)
            << status.to_string();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_LE(placed.model()->hung_runs(), 4U);
  EXPECT_FALSE(placed.model()->attestation()->fallback) << placed.model()->attestation()->reason;
}

}  // namespace
}  // namespace latebind::test
