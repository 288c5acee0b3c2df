// Threads that are cancelled in the middle of a call, on the fake OpenVINO library.
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <optional>
#include <string>
#include <thread>

#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::last_message;

constexpr const char* kCancelledModel = "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";

// A run on a thread of its own, and what came of it.
struct RunOnThread {
  lb_model* model = nullptr;
  const lb_cancellation* cancellation = nullptr;
  lb_code code = LB_OK;

  static void* on_thread(void* run) {
    static_cast<RunOnThread*>(run)->make();
    ::pthread_testcancel();
    return nullptr;
  }
  void make() {
    const std::array<float, 4> values{1, 2, 3, 4};
    const lb_tensor input = latebind::tensor_of(values.data(), {4});
    lb_output* output = nullptr;
    ASSERT_EQ(lb_output_create(nullptr, 0, &output), LB_OK);
    auto options = LB_INIT(lb_call_options);
    options.cancellation = cancellation;
    code = lb_model_run(model, &input, 1, &output, 1, &options);
    lb_output_destroy(output);
  }
};

TEST(ThreadCancellationTest, AThreadThatIsCancelledInACallGoesWhenThatIsOver) {
  latebind::test::FakeOpenvino fake;
  auto made = latebind::Runtime::create(latebind::test::with_openvino(fake.file()));
  ASSERT_TRUE(made.ok());
  std::optional<latebind::Runtime> runtime(*std::move(made));
  auto memory = LB_INIT(lb_model_memory);
  memory.format = LB_FORMAT_BY_FIRST_BYTES;
  memory.graph = kCancelledModel;
  memory.graph_size = std::string(kCancelledModel).size();
  RunOnThread run;
  ASSERT_EQ(lb_model_load_memory(runtime->get(), &memory, nullptr, nullptr, &run.model), LB_OK) << last_message();
  lb_cancellation* cancellation = nullptr;
  ASSERT_EQ(lb_cancellation_create(&cancellation), LB_OK);
  run.cancellation = cancellation;

  fake.script("hang\n");
  const long before = fake.calls("run");
  pthread_t thread{};
  ASSERT_EQ(::pthread_create(&thread, nullptr, RunOnThread::on_thread, &run), 0);
  while (fake.calls("run") == before)
    std::this_thread::yield();
  ASSERT_EQ(::pthread_cancel(thread), 0);
  lb_cancellation_request(cancellation);
  void* ended = nullptr;
  ASSERT_EQ(::pthread_join(thread, &ended), 0);
  EXPECT_EQ(run.code, LB_CANCELLED) << "the call was whole";
  EXPECT_EQ(ended, PTHREAD_CANCELED);

  fake.script("");
  lb_cancellation_destroy(cancellation);
  lb_model_destroy(run.model);
  runtime.reset();
  while (fake.alive() != 0)
    std::this_thread::yield();
}

}  // namespace
