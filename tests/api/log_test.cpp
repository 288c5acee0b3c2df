// The log of the C interface: a callback may call any function of Latebind. On the fake OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::last_message;
using latebind::test::with_openvino;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kLogModel = "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";

// Each line makes the callback list the devices, ask who answers and run the model.
class AskingLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(lb_runtime_create(with_openvino(fake.file()).get(), &runtime), LB_OK);
    lb_set_log(&AskingLogTest::ask, this, LB_LOG_DEBUG);
  }
  void TearDown() override {
    lb_model_destroy(model);
    lb_set_log(nullptr, nullptr, 0);
    lb_runtime_destroy(runtime);
  }

  lb_code load() {
    lb_model_destroy(model.exchange(nullptr));
    auto memory = LB_INIT(lb_model_memory);
    memory.format = LB_FORMAT_BY_FIRST_BYTES;
    memory.graph = kLogModel;
    memory.graph_size = std::char_traits<char>::length(kLogModel);
    lb_model* made = nullptr;
    const lb_code code = lb_model_load_memory(runtime, &memory, load_options.get(), nullptr, &made);
    model = made;
    return code;
  }

  static lb_code run(lb_model* on) {
    const std::array<float, 4> values{1, 2, 3, 4};
    std::array<float, 4> answer{};
    const lb_tensor input = latebind::tensor_of(values.data(), {4});
    lb_output* output = nullptr;
    EXPECT_EQ(lb_output_create(answer.data(), sizeof answer, &output), LB_OK);
    const lb_code code = lb_model_run(on, &input, 1, &output, 1, nullptr);
    if (code == LB_OK) {
      EXPECT_THAT(answer, ::testing::ElementsAre(2, 3, 4, 5));
    }
    lb_output_destroy(output);
    return code;
  }

  static void ask(void* context, std::int32_t, const char* text) {
    auto& self = *static_cast<AskingLogTest*>(context);
    {
      const std::lock_guard lock(self.mutex);
      self.lines.emplace_back(text);
    }
    lb_device_list* list = nullptr;
    EXPECT_EQ(lb_device_list_create(self.runtime, 0, &list), LB_OK);
    lb_device_list_destroy(list);
    if (lb_model* const there = self.model) {
      lb_attestation* attestation = nullptr;
      EXPECT_EQ(lb_model_attestation(there, &attestation), LB_OK);
      lb_attestation_destroy(attestation);
      EXPECT_EQ(run(there), LB_OK) << last_message();
    }
  }

  latebind::test::FakeOpenvino fake;
  lb_runtime* runtime = nullptr;
  latebind::Options load_options;
  std::atomic<lb_model*> model = nullptr;
  std::mutex mutex;
  std::vector<std::string> lines;
};

TEST_F(AskingLogTest, WhileAVendorsLibraryIsOpened) {
  lb_device_list* list = nullptr;
  ASSERT_EQ(lb_device_list_create(runtime, 0, &list), LB_OK);
  EXPECT_EQ(lb_device_list_count(list), 2U);  // native:CPU, too
  lb_device_list_destroy(list);
  EXPECT_THAT(lines, Contains(HasSubstr("opened OpenVINO 2026.4.1-fake from")));
}

TEST_F(AskingLogTest, WhenADeviceFailsAndTheNextIsLoaded) {
  fake.script("device GPU\ndevice CPU\non GPU fail run 1- -1 the driver died\n");
  load_options.set("device", "gpu,cpu");
  ASSERT_EQ(load(), LB_OK) << last_message();
  EXPECT_EQ(run(model), LB_OK) << last_message();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(lines, Contains(HasSubstr("openvino:GPU rests after a failure")));
}

TEST_F(AskingLogTest, WhenTheCompileCacheHasSomethingToSay) {
  const auto folder = fake.folder() / "cache";
  load_options.set("cache.folder", folder.string());
  ASSERT_EQ(load(), LB_OK) << last_message();
  lb_model_destroy(model.exchange(nullptr));  // waits for what is to be kept
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".blob") std::filesystem::resize_file(entry.path(), 10);
  }
  ASSERT_EQ(load(), LB_OK) << last_message();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(lines, Contains(HasSubstr("not cached yet")));
  EXPECT_THAT(lines, Contains(HasSubstr("from the compile cache")));
}

}  // namespace
