// Calls that a thread makes when its own variables have gone, on the fake OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::last_message;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kEndModel = "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";

class ThreadEndTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = latebind::Runtime::create(latebind::test::with_openvino(fake.file()));
    ASSERT_TRUE(made.ok());
    runtime = made->get();
    auto memory = LB_INIT(lb_model_memory);
    memory.format = LB_FORMAT_BY_FIRST_BYTES;
    memory.graph = kEndModel;
    memory.graph_size = std::string(kEndModel).size();
    ASSERT_EQ(lb_model_load_memory(runtime, &memory, nullptr, nullptr, &model), LB_OK) << last_message();
    kept.emplace(*std::move(made));
    ASSERT_EQ(::pthread_key_create(&key, [](void* test) { static_cast<ThreadEndTest*>(test)->end(); }), 0);
  }
  void TearDown() override {
    ::pthread_key_delete(key);
    lb_model_destroy(model);
  }

  // The first time, Latebind's own may still be there: the system goes through all of them once more.
  void end() {
    if (ended++ == 0) {
      ASSERT_EQ(::pthread_setspecific(key, this), 0);
    } else {
      at_end();
    }
  }

  // A thread that works, and makes `what` when its own variables have gone.
  void on_an_ending_thread(std::function<void()> what) {
    at_end = std::move(what);
    std::thread([this] {
      ASSERT_EQ(::pthread_setspecific(key, this), 0);
      EXPECT_EQ(run(), LB_OK);
      EXPECT_EQ(fail(), LB_NOT_FOUND);
      EXPECT_THAT(last_message(), HasSubstr("nowhere"));
    }).join();
  }

  [[nodiscard]] lb_code run() const {
    const std::array<float, 4> values{1, 2, 3, 4};
    const lb_tensor input = latebind::tensor_of(values.data(), {4});
    const auto output = latebind::Output::create();
    lb_output* const raw = output->get();
    return lb_model_run(model, &input, 1, &raw, 1, nullptr);
  }
  [[nodiscard]] lb_code fail() const {
    lb_model* none = nullptr;
    return lb_model_load_file(runtime, "/nowhere/in/a/folder/whose/name/is/long", nullptr, nullptr, &none);
  }

  latebind::test::FakeOpenvino fake;
  std::optional<latebind::Runtime> kept;
  const lb_runtime* runtime = nullptr;
  lb_model* model = nullptr;
  pthread_key_t key{};
  std::function<void()> at_end;
  int ended = 0;
};

TEST_F(ThreadEndTest, ItsLastErrorKeepsItsCodeAndHasNoWords) {
  auto error = LB_INIT(lb_error);
  on_an_ending_thread([&] { lb_last_error(&error); });
  EXPECT_EQ(error.code, LB_NOT_FOUND);
  EXPECT_THAT(error.message, HasSubstr("the thread is ending"));
  EXPECT_STREQ(error.vendor_text, "");
}

TEST_F(ThreadEndTest, CallsWorkAndFailAsEver) {
  std::vector<lb_code> codes;
  on_an_ending_thread([&] {
    for (int i = 0; i < 3; ++i) {
      codes.push_back(run());
      codes.push_back(fail());
    }
  });
  EXPECT_THAT(codes, ElementsAre(LB_OK, LB_NOT_FOUND, LB_OK, LB_NOT_FOUND, LB_OK, LB_NOT_FOUND));
}

}  // namespace
