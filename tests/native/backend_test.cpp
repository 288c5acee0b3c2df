#include "backends/native/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "backends/native/order.h"
#include "core/backend/device.h"
#include "core/backend/questions.h"
#include "core/platform/system_info.h"
#include "support.h"

namespace latebind::native {
namespace {

using core::StatusCode;
using testing::EncoderShape;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

core::Model small_model() {
  return testing::model_of(*testing::encoder({.hidden = 16}));
}

core::Status refusal(const core::CompileOptions& options) {
  return testing::backend("portable")->load(small_model(), "CPU", options).status();
}

TEST(NativeBackendTest, IsAlwaysThereWithOneDevice) {
  const auto backend = testing::backend();
  EXPECT_TRUE(backend->available().ok());
  const auto devices = backend->devices();
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().id(), "native:CPU");
  EXPECT_EQ(devices->front().kind, core::DeviceKind::kCpu);
  const auto fastest = std::ranges::find_if(all_kernels(), [](const Kernels* set) { return can_run(*set); });
  EXPECT_EQ(devices->front().facts().at("InstructionSet"), (*fastest)->name);
}

TEST(NativeBackendTest, ReportsWhatItIsLoadedWith) {
  const auto executable = testing::backend()->load(small_model(), "CPU", {.threads = 3});
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  const core::ActiveConfig& active = (*executable)->active();
  EXPECT_EQ(active.id(), "native:CPU");
  EXPECT_EQ(active.precision, core::Precision::kF32);
  EXPECT_EQ(active.threads, 3U);
  EXPECT_EQ(active.requests, 3U);
  EXPECT_TRUE(active.leaves_padding_out);
  EXPECT_EQ((*executable)->inputs().size(), 2U);
  EXPECT_EQ((*executable)->outputs().front().name, "vector");
}

TEST(NativeBackendTest, RefusesByNameWhatItCannotHonour) {
  EXPECT_THAT(refusal({.precision = core::Precision::kF16}).to_string(), HasSubstr("f16 was requested"));
  EXPECT_THAT(refusal({.input_shapes = {{1, 8}, {1, 8}}}).to_string(), HasSubstr("static shapes"));
  EXPECT_THAT(refusal({.properties = {{"NUM_STREAMS", "2"}}}).to_string(), HasSubstr("NUM_STREAMS"));
  EXPECT_EQ(refusal({.threads = 100'000}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(testing::backend()->load(small_model(), "NPU", {}).status().code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(core::compile_blob(*testing::backend(), small_model(), "CPU", {}).status().to_string(),
              HasSubstr("native:CPU does not compile"));
  EXPECT_EQ(core::load_blob(*testing::backend(), core::Blob{}, "CPU", {}).status().code(),
            StatusCode::kIncompatibleBlob);
  const auto onnx = core::Model::from_forms("a file", {{.graph = core::SharedBytes::from_string("onnx")}});
  EXPECT_THAT(testing::backend()->load(onnx, "CPU", {}).status().to_string(), HasSubstr("'a file'"));
}

TEST(NativeBackendTest, NamesTheOperatorThatItDoesNotCompute) {
  graph::GraphBuilder builder{core::FilePart{}};
  const auto x = builder.add(graph::Input{"x", core::ElementType::kF32, {core::kDynamic, 2}});
  const auto sum = builder.add(graph::Add{x, x});
  const auto loaded = testing::backend()->load(testing::model_of(*std::move(builder).finish(sum, "z")), "CPU", {});
  EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(loaded.status().to_string(), HasSubstr("an input x of f32"));
}

TEST(NativeBackendTest, ALowerInstructionSetCanBeForced) {
  const auto devices = testing::backend("portable")->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  EXPECT_EQ(devices->front().facts().at("InstructionSet"), "portable");
  const auto unknown = testing::backend("avx3")->available();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.to_string(), HasSubstr("portable"));
  EXPECT_FALSE(testing::backend("portable")->diagnosis(nullptr).withheld_by_setting);
}

TEST(NativeBackendTest, ComputesInThePrecisionsOfItsInstructionSet) {
  for (const std::string& isa : testing::runnable_sets()) {
    SCOPED_TRACE(isa);
    const auto backend = testing::backend(isa);
    const std::string says = backend->devices()->front().facts().at("Precisions");
    for (const auto& [word, precision] : core::Words<core::Precision>::kWords) {
      SCOPED_TRACE(word);
      const auto loaded = backend->load(small_model(), "CPU", {.precision = precision});
      if (precision == core::Precision::kFast) {
        ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
        EXPECT_THAT(says, HasSubstr(std::string(core::word_of((*loaded)->active().precision))));
        continue;
      }
      const bool is_named = ("," + says + ",").find("," + std::string(word) + ",") != std::string::npos;
      ASSERT_EQ(loaded.ok(), is_named) << loaded.status().to_string();
      if (loaded.ok()) {
        EXPECT_EQ((*loaded)->active().precision, precision);
      } else {
        EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported);
      }
    }
  }
}

TEST(NativeBackendTest, IsPreferredInWhatItComputesAlone) {
  for (const std::string& isa : testing::runnable_sets()) {
    SCOPED_TRACE(isa);
    const core::Device device = testing::backend(isa)->devices()->front();
    for (const auto& [word, precision] : core::Words<core::Precision>::kWords) {
      SCOPED_TRACE(word);
      const bool is_preferred = device.traits.is_preferred_in(precision);
      // f32 and bf16 are by the table of processors.
      if (precision == core::Precision::kF32) continue;
      if (precision == core::Precision::kBF16) {
        EXPECT_LE(is_preferred, device.traits.computes_in(precision));
        continue;
      }
      const bool is_its_own = precision == core::Precision::kInt8 && device.traits.computes_in(precision);
      EXPECT_EQ(is_preferred, precision == core::Precision::kFast || is_its_own);
    }
    EXPECT_NE(device.facts().at("PreferredBecause"), "");
    EXPECT_EQ(device.facts().at("PreferredInF32"),
              "Intel with AVX-512: yes; AMD with AVX-512: yes; AMD with AVX2 alone: no; any other: no");
    EXPECT_EQ(device.facts().at("PreferredInBF16"),
              "Intel with AVX-512: no; AMD with AVX-512: yes; AMD with AVX2 alone: no; any other: no");
  }
}

TEST(NativeBackendTest, ASettingNamesEverySetOfKernels) {
  for (const Kernels* const set : all_kernels())
    EXPECT_EQ(std::ranges::count(kInstructionSets, set->name), 1) << set->name;
}

TEST(NativeBackendTest, ASetThatTheProcessorDoesNotHaveIsRefusedByName) {
#if defined(__x86_64__)
  const auto named = testing::backend("avx512_fp16")->devices();
  const auto features = platform::cpu_features();
  if (std::ranges::count(features, "avx512_fp16") == 0) {
    EXPECT_EQ(named.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(named.status().to_string(), HasSubstr("avx512_fp16, which this processor does not support"));
    // It stands where it would without the setting.
    const auto kept_back = testing::backend("avx512_fp16")->diagnosis(nullptr).withheld_by_setting;
    ASSERT_TRUE(kept_back);
    EXPECT_EQ(kept_back->id(), "native:CPU");
    EXPECT_EQ(kept_back->facts(), testing::backend()->devices()->front().facts());
  } else {
    ASSERT_TRUE(named.ok()) << named.status().to_string();
    EXPECT_TRUE(named->front().traits.computes_in(core::Precision::kF16));
  }
#endif
}

TEST(NativeOrderTest, IsFirstWhereThatWasMeasured) {
  EXPECT_TRUE(order_rule({"AMD EPYC", "avx512_bf16"}).is_first_in_f32);
  EXPECT_TRUE(order_rule({"AMD EPYC", "avx512"}).is_first_in_f32);
  EXPECT_FALSE(order_rule({"AMD EPYC", "avx2"}).is_first_in_f32);  // native.isa
  EXPECT_TRUE(order_rule({"Intel(R) Xeon(R)", "avx512_fp16"}).is_first_in_f32);
  EXPECT_FALSE(order_rule({"Intel(R) Xeon(R)", "avx2_vnni"}).is_first_in_f32);
  EXPECT_FALSE(order_rule({"", "portable"}).is_first_in_f32);
  EXPECT_TRUE(order_rule({"AMD EPYC", "avx512_bf16"}).is_first_in_bf16);
  EXPECT_FALSE(order_rule({"Intel(R) Xeon(R)", "avx512_fp16"}).is_first_in_bf16);
}

TEST(NativeBackendTest, EndsWithinItsLimits) {
  // Large enough to take longer than the limits, on any machine.
  const EncoderShape shape{.hidden = 256, .heads = 4, .intermediate = 1024, .positions = 512, .layers = 2};
  const auto executable =
      testing::backend("portable")->load(testing::model_of(*testing::encoder(shape)), "CPU", {.threads = 2});
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  std::mt19937 chance(3);
  const auto inputs = testing::draw_batch(chance, std::vector<std::int64_t>(64, 512), shape.vocabulary);
  const auto now = [] { return std::chrono::steady_clock::now(); };
  EXPECT_EQ(testing::run(**executable, inputs, {.deadline = now()}).status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(testing::run(**executable, inputs, {.deadline = now() + 5ms}).status.code(), StatusCode::kDeadlineExceeded);
  const auto slow = testing::run(**executable, inputs, {.run_timeout = 5ms}).status;
  EXPECT_EQ(slow.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(slow.to_string(), HasSubstr("hung"));
  core::RunOptions options{.cancellation = core::Cancellation::create()};
  std::thread canceller([&] {
    std::this_thread::sleep_for(5ms);
    options.cancellation.request();
  });
  EXPECT_EQ(testing::run(**executable, inputs, options).status.code(), StatusCode::kCancelled);
  canceller.join();
  // Where nobody waits for it any more, too, which is no limit.
  core::RunOptions unbounded{.nobody_waits = core::Cancellation::create()};
  ASSERT_FALSE(unbounded.is_bounded());
  std::thread leaver([&] {
    std::this_thread::sleep_for(5ms);
    unbounded.nobody_waits.request();
  });
  EXPECT_EQ(testing::run(**executable, inputs, unbounded).status.code(), StatusCode::kCancelled);
  leaver.join();
  // And is as good as new.
  const auto few = testing::draw_batch(chance, {3, 5}, shape.vocabulary);
  EXPECT_TRUE(testing::run(**executable, few).status.ok());
}

TEST(NativeBackendTest, ManyThreadsGetWhatOneGets) {
  const EncoderShape shape{.hidden = 32, .heads = 4, .intermediate = 64};
  const auto executable = testing::backend()->load(testing::model_of(*testing::encoder(shape)), "CPU", {.threads = 2});
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  std::mt19937 chance(5);
  std::vector<testing::Inputs> inputs;
  std::vector<std::vector<float>> wanted;
  for (std::int64_t i = 0; i < 8; ++i) {
    inputs.push_back(testing::draw_batch(chance, {3 + i, 1, 9}, shape.vocabulary));
    wanted.push_back(testing::run(**executable, inputs.back()).values);
    ASSERT_FALSE(wanted.back().empty());
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const auto outcome = testing::run(**executable, inputs[i]);
        if (!outcome.status.ok() || outcome.values != wanted[i]) ++wrong;
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace latebind::native
