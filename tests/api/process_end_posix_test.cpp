// Calls in atexit() handlers, on the fake OpenVINO library: before what a vendor has made static goes, and after that.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::last_message;

constexpr const char* kLastModel = "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";
constexpr int kAsPromised = 7;

// For one death test each: they are processes of their own.
std::optional<latebind::test::FakeOpenvino> g_fake;
std::optional<latebind::Runtime> g_runtime;
lb_model* g_model = nullptr;
int g_released = 0;

lb_code load(lb_model** model) {
  auto memory = LB_INIT(lb_model_memory);
  memory.format = LB_FORMAT_BY_FIRST_BYTES;
  memory.graph = kLastModel;
  memory.graph_size = std::string(kLastModel).size();
  memory.release = [](void*) { ++g_released; };
  return lb_model_load_memory(g_runtime->get(), &memory, nullptr, nullptr, model);
}

lb_code run() {
  const std::array<float, 4> values{1, 2, 3, 4};
  const lb_tensor input = latebind::tensor_of(values.data(), {4});
  const auto output = latebind::Output::create();
  lb_output* const raw = output->get();
  return lb_model_run(g_model, &input, 1, &raw, 1, nullptr);
}

void open_and_run() {
  g_fake.emplace();
  auto made = latebind::Runtime::create(latebind::test::with_openvino(g_fake->file()));
  if (!made.ok()) std::abort();
  g_runtime.emplace(*std::move(made));
  if (load(&g_model) != LB_OK || run() != LB_OK) std::abort();
}

[[noreturn]] void leave_with(bool as_promised) {
  std::_Exit(as_promised ? kAsPromised : 1);
}

TEST(ProcessEndTest, AHandlerThatWasThereBeforeTheVendorGetsBusy) {
  EXPECT_EXIT(
      {
        std::atexit([] {
          g_released = 0;
          lb_model* another = nullptr;
          lb_device_list* devices = nullptr;
          lb_job* job = nullptr;
          const lb_runtime* const runtime = g_runtime->get();
          const bool refused = run() == LB_BUSY && last_message().find("the process is ending") != std::string::npos &&
                               load(&another) == LB_BUSY && g_released == 1 &&
                               lb_model_load_file(runtime, "nowhere", nullptr, nullptr, &another) == LB_BUSY &&
                               lb_device_list_create(runtime, 0, &devices) == LB_BUSY &&
                               lb_runtime_check(runtime) == LB_BUSY &&
                               lb_job_start(runtime, "devices", nullptr, nullptr, &job) == LB_BUSY;
          // Its vendor's destructors are not called: what they need may have gone.
          g_released = 0;
          lb_model_destroy(g_model);
          g_runtime.reset();
          leave_with(refused && g_released == 0);
        });
        open_and_run();
        std::exit(0);
      },
      testing::ExitedWithCode(kAsPromised), "");
}

TEST(ProcessEndTest, AHandlerThatWasRegisteredAfterTheFirstRunMayRunAndDestroy) {
  EXPECT_EXIT(
      {
        open_and_run();
        std::atexit([] {
          const bool works = run() == LB_OK;
          lb_model_destroy(g_model);
          leave_with(works && g_released == 1);
        });
        std::exit(0);
      },
      testing::ExitedWithCode(kAsPromised), "");
}

}  // namespace
