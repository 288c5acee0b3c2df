// A device that dies while a program runs on it, and comes back.
#include <chrono>
#include <thread>

#include "tests/hosts/executorch/delegate/bundle.h"
#include "tests/hosts/executorch/delegate/fixture.h"

namespace latebind::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kBoth = "device NPU\ndevice CPU\n";

class FailoverTest : public DelegateTest {
 protected:
  void SetUp() override {
    DelegateTest::SetUp();
    fake.script(kBoth);
    spec = program_of({"x f32 2"}, {"y f32 2"});
    spec.compile_specs = {{"precision", "f16,f32"}};
    ASSERT_EQ(set("failover.backoff_first_ms", "10"), et::Error::Ok) << said();
    ASSERT_EQ(set("failover.backoff_most_ms", "20"), et::Error::Ok) << said();
    clear_log();
  }
  void TearDown() override {
    EXPECT_EQ(set("failover.backoff_first_ms", ""), et::Error::Ok);
    EXPECT_EQ(set("failover.backoff_most_ms", ""), et::Error::Ok);
    DelegateTest::TearDown();
  }

  void run(Module& module) {
    HostTensor x(ScalarType::Float, {2});
    x.fill<float>({1, 2});
    const auto outputs = module.forward({x.value()});
    ASSERT_TRUE(outputs.ok()) << said();
    EXPECT_THAT(floats((*outputs)[0]), ElementsAre(2, 3));
  }

  pte::ProgramSpec spec;
};

TEST_F(FailoverTest, TheNpuDiesTheProcessorAnswersAndTheNpuComesBack) {
  const auto module = module_of(kModel, spec);
  run(*module);
  EXPECT_EQ(get("active_device"), "openvino:NPU");
  fake.script(std::string(kBoth) + "on NPU fail run * -1 the driver died\n");
  for (int i = 0; i < 10; ++i)
    run(*module);
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  EXPECT_THAT(said(), HasSubstr("openvino:NPU rests after a failure"));
  EXPECT_THAT(said(), HasSubstr("the driver died"));
  fake.script(kBoth);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (get("active_device") != "openvino:NPU" && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(get("active_device"), "openvino:NPU");
  run(*module);
  EXPECT_EQ(fake.defects(), "");
}

TEST_F(FailoverTest, OneProgramRunsItsVariantOnTheNpuAndThePortableModelElsewhere) {
  const std::string bundle = fake_bundle(folder, kModel, fake_blob("NPU", kModel));
  const auto file = folder.write(spec, bundle);
  {
    Module module(file, Module::LoadMode::Mmap);
    run(module);
    EXPECT_EQ(get("active_device"), "openvino:NPU");
    EXPECT_EQ(fake.calls("ov_core_import_model"), 1);
    EXPECT_EQ(fake.calls("ov_core_compile_model"), 0);
  }
  fake.script("device CPU\n");
  Module module(file, Module::LoadMode::Mmap);
  run(module);
  EXPECT_EQ(get("active_device"), "openvino:CPU");
}

TEST_F(FailoverTest, AVariantThatDoesNotFitIsReplacedByThePortableModel) {
  const auto file =
      folder.write(spec, fake_bundle(folder, kModel, "fake-blob 2024.6.0 NPU\nfake-model\n" + std::string(kModel)));
  Module module(file, Module::LoadMode::Mmap);
  run(module);
  EXPECT_EQ(get("active_device"), "openvino:NPU");
  EXPECT_EQ(fake.calls("ov_core_compile_model"), 1);
}

TEST_F(FailoverTest, OnlyWhatNothingFitsIsAnInvalidCompatibility) {
  fake.script("device CPU\non CPU fail ov_core_compile_model * -1 not today\n");
  EXPECT_EQ(module_of(kModel, spec)->load_method("forward"), et::Error::DelegateInvalidCompatibility);
  EXPECT_THAT(said(), HasSubstr("not today"));
}

}  // namespace
}  // namespace latebind::test
