// What a child made by fork() may do with the C interface, on the fake OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "tests/api/fork_support.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::said_by_child;
using latebind::test::with_openvino;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kForkModel = "<net/>\nfake-model\ninput x f32 2..8,2\noutput y plus-one 0\n";

std::string last_error() {
  auto error = LB_INIT(lb_error);
  lb_last_error(&error);
  return std::string(lb_code_name(error.code)) + (error.retryable != 0 ? " (retry): " : ": ") + error.message;
}

class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(create(&runtime), LB_OK);
    ASSERT_EQ(load(runtime, &model), LB_OK);
    ASSERT_EQ(run(model), "ran");
  }
  void TearDown() override {
    lb_set_log(nullptr, nullptr, LB_LOG_DEBUG);
    lb_model_destroy(model);
    lb_runtime_destroy(runtime);
  }

  lb_code create(lb_runtime** made) const { return lb_runtime_create(with_openvino(fake.file()).get(), made); }
  static lb_code load(const lb_runtime* on, lb_model** made, const lb_call_options* call = nullptr) {
    auto memory = LB_INIT(lb_model_memory);
    memory.format = LB_FORMAT_BY_FIRST_BYTES;
    memory.graph = kForkModel;
    memory.graph_size = std::string(kForkModel).size();
    memory.name = "toy";
    return lb_model_load_memory(on, &memory, nullptr, call, made);
  }
  static std::string run(lb_model* on, const lb_cancellation* cancellation = nullptr) {
    std::array<float, 4> values{1, 2, 3, 4};
    lb_tensor input{};
    input.data = values.data();
    input.type = LB_F32;
    input.rank = 2;
    input.shape[0] = 2;
    input.shape[1] = 2;
    lb_output* output = nullptr;
    if (lb_output_create(nullptr, 0, &output) != LB_OK) return last_error();
    auto options = LB_INIT(lb_call_options);
    options.cancellation = cancellation;
    const lb_code code = lb_model_run(on, &input, 1, &output, 1, &options);
    lb_tensor tensor{};
    const bool right = code == LB_OK && lb_output_get(output, &tensor) == LB_OK && tensor.data != nullptr &&
                       static_cast<const float*>(tensor.data)[3] == 5;
    lb_output_destroy(output);
    return code != LB_OK ? last_error() : right ? "ran" : "ran wrong";
  }

  // With objects of its own, which go.
  [[nodiscard]] std::string load_and_run() const {
    lb_runtime* own = nullptr;
    lb_model* made = nullptr;
    const std::string said = create(&own) == LB_OK && load(own, &made) == LB_OK ? run(made) : last_error();
    lb_model_destroy(made);
    lb_runtime_destroy(own);
    return said;
  }

  latebind::test::FakeOpenvino fake;
  lb_runtime* runtime = nullptr;
  lb_model* model = nullptr;
};

TEST_F(ForkTest, AModelOfTheParentIsRefusedInTheChild) {
  const auto said = said_by_child([this] { return run(model); });
  EXPECT_THAT(said, StartsWith("INVALID_ARGUMENT: this model was created before fork()"));
  EXPECT_EQ(run(model), "ran") << "and works in the parent";
}

TEST_F(ForkTest, ARuntimeOfTheParentIsRefusedInTheChild) {
  EXPECT_THAT(said_by_child([this] {
                lb_model* made = nullptr;
                return load(runtime, &made) == LB_OK ? "loaded" : last_error();
              }),
              StartsWith("INVALID_ARGUMENT: this runtime was created before fork()"));
  EXPECT_THAT(said_by_child([this] {
                lb_device_list* list = nullptr;
                return lb_device_list_create(runtime, 0, &list) == LB_OK ? "listed" : last_error();
              }),
              StartsWith("INVALID_ARGUMENT: this runtime was created before fork()"));
  EXPECT_THAT(said_by_child([this] {
                lb_attestation* attestation = nullptr;
                return lb_model_attestation(model, &attestation) == LB_OK ? "attested" : last_error();
              }),
              HasSubstr("this model was created before fork()"));
}

TEST_F(ForkTest, TheChildsOwnObjectsWorkBesideThoseOfTheParent) {
  EXPECT_EQ(said_by_child([this] {
              lb_runtime* own = nullptr;
              lb_model* made = nullptr;
              if (create(&own) != LB_OK || load(own, &made) != LB_OK) return last_error();
              const std::string said = run(made);
              lb_model_destroy(model);
              lb_runtime_destroy(runtime);
              lb_model_destroy(made);
              lb_runtime_destroy(own);
              return said + ", destroyed";
            }),
            "ran, destroyed");
}

// A vendor's threads that a closed model has left behind are waited for in a child, where they are not.
TEST_F(ForkTest, TheChildsOwnWorkWhereTheParentHasClosedAllModels) {
  lb_runtime* other = nullptr;
  lb_model* of_other = nullptr;
  ASSERT_EQ(create(&other), LB_OK);
  ASSERT_EQ(load(other, &of_other), LB_OK);
  lb_model_destroy(of_other);
  lb_model_destroy(std::exchange(model, nullptr));
  EXPECT_EQ(said_by_child([this] { return load_and_run(); }), "ran") << "though both runtimes are there";
  lb_runtime_destroy(other);
}

TEST_F(ForkTest, OpenvinoIsRefusedWhereTheParentHasClosedOneModelAndKeptAnother) {
  lb_model* closed = nullptr;
  ASSERT_EQ(load(runtime, &closed), LB_OK);
  lb_model_destroy(closed);
  EXPECT_THAT(said_by_child([this] { return load_and_run(); }),
              AllOf(StartsWith("NO_DEVICE"), HasSubstr("had closed a model of OpenVINO and kept another"),
                    HasSubstr("'spawn' or 'forkserver'")));
  EXPECT_EQ(load_and_run(), "ran") << "in the parent";
  lb_model_destroy(std::exchange(model, nullptr));
  EXPECT_EQ(said_by_child([this] {
              const std::string own = load_and_run();
              return own + ", its child " + said_by_child([this] { return load_and_run(); });
            }),
            "ran, its child ran")
      << "once all are closed";
}

TEST_F(ForkTest, OpenvinoIsRefusedWhereAnotherThreadOfTheParentIsInACall) {
  fake.script("hang\n");
  const long before = fake.calls("run");
  std::thread busy([this] { EXPECT_EQ(run(model), "ran"); });
  while (fake.calls("run") == before)
    std::this_thread::yield();
  const auto said = said_by_child([this] {
    lb_runtime* own = nullptr;
    std::string words = create(&own) == LB_OK && lb_runtime_check(own) == LB_OK ? "fine" : last_error();
    return words + " | " + load_and_run();
  });
  EXPECT_THAT(said, AllOf(StartsWith("NO_DEVICE"), HasSubstr(" | NO_DEVICE"),
                          HasSubstr("while its parent was in a call of OpenVINO")));
  fake.script("");
  busy.join();
  EXPECT_EQ(said_by_child([this] { return load_and_run(); }), "ran") << "as soon as it is back";
}

TEST_F(ForkTest, AChildOfAChildIsAnotherProcessAgain) {
  EXPECT_THAT(said_by_child([this] {
                lb_runtime* own = nullptr;
                lb_model* made = nullptr;
                if (create(&own) != LB_OK || load(own, &made) != LB_OK) return last_error();
                return said_by_child([made] { return run(made); });
              }),
              StartsWith("INVALID_ARGUMENT: this model was created before fork()"));
}

TEST_F(ForkTest, ATokenizerOfTheParentIsTheChildsAsWell) {
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
  lb_tokenizer* tokenizer = nullptr;
  ASSERT_EQ(lb_tokenizer_open(folder.c_str(), &tokenizer), LB_OK) << last_error();
  const lb_text text{"a cat", 5};
  EXPECT_EQ(said_by_child([&] {
              lb_token_list* list = nullptr;
              if (lb_tokenizer_encode(tokenizer, &text, 1, 0, &list) != LB_OK) return last_error();
              lb_token_ids ids{};
              const lb_code code = lb_token_list_get(list, 0, &ids, nullptr);
              lb_token_list_destroy(list);
              lb_tokenizer_destroy(tokenizer);
              return code == LB_OK ? std::to_string(ids.count) + " tokens" : last_error();
            }),
            "4 tokens");
  lb_tokenizer_destroy(tokenizer);
}

TEST_F(ForkTest, TheParentsJobsTakeNoPlaceInTheChild) {
  lb_runtime* slow = nullptr;
  latebind::test::FakeOpenvino other;
  ASSERT_EQ(lb_runtime_create(with_openvino(other.file()).get(), &slow), LB_OK);
  other.script("slow load 1000\n");
  std::vector<lb_job*> jobs;
  lb_job* job = nullptr;
  while (lb_job_start(slow, "devices", nullptr, nullptr, &job) == LB_OK)
    jobs.push_back(job);
  EXPECT_THAT(last_error(), StartsWith("BUSY (retry): 64 jobs are running"));
  EXPECT_EQ(said_by_child([this] {
              lb_runtime* own = nullptr;
              lb_job* begun = nullptr;
              if (create(&own) != LB_OK || lb_job_start(own, "cache_list", nullptr, nullptr, &begun) != LB_OK) {
                return last_error();
              }
              return std::string("begun");
            }),
            "begun");
  for (lb_job* each : jobs) {
    EXPECT_EQ(lb_job_wait(each, 60'000, nullptr), LB_OK);
    lb_job_destroy(each);
  }
  lb_runtime_destroy(slow);
}

TEST_F(ForkTest, ACancellationOfTheParentIsRefusedInTheChildAndNeverWaitedFor) {
  lb_cancellation* cancellation = nullptr;
  ASSERT_EQ(lb_cancellation_create(&cancellation), LB_OK);
  EXPECT_THAT(said_by_child([&] {
                lb_runtime* own = nullptr;
                lb_model* made = nullptr;
                if (create(&own) != LB_OK || load(own, &made) != LB_OK) return last_error();
                lb_cancellation_request(cancellation);
                const std::string said = run(made, cancellation);
                lb_model* none = nullptr;
                auto call = LB_INIT(lb_call_options);
                call.cancellation = cancellation;
                const bool refused = load(own, &none, &call) == LB_INVALID_ARGUMENT;
                lb_cancellation_destroy(cancellation);
                return said + (refused ? ", refused" : ", taken");
              }),
              ::testing::AllOf(StartsWith("INVALID_ARGUMENT: this cancellation was created before fork()"),
                               ::testing::EndsWith(", refused")));
  EXPECT_EQ(run(model, cancellation), "ran") << "and was not requested in the parent";
  lb_cancellation_destroy(cancellation);
}

// A thread that the child does not have waits with the cancellation, and its lock may be held by another one forever.
TEST_F(ForkTest, ACancellationThatThreadsOfTheParentUseHangsNowhereInTheChild) {
  lb_cancellation* cancellation = nullptr;
  ASSERT_EQ(lb_cancellation_create(&cancellation), LB_OK);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!over)
        EXPECT_EQ(run(model, cancellation), "ran");
    });
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(said_by_child([cancellation] {
                lb_cancellation_request(cancellation);
                lb_cancellation_destroy(cancellation);
                return std::string("back");
              }),
              "back");
  }
  over = true;
  for (auto& thread : threads)
    thread.join();
  lb_cancellation_destroy(cancellation);
}

// Whatever locks other threads hold when the process forks.
TEST_F(ForkTest, AChildThatIsMadeInTheMiddleOfOthersWorkHangsNowhere) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP()
      << "gcc 12's address sanitizer leaves its allocator's locks closed in a child that is made while another "
         "thread allocates";
#endif
  lb_set_log([](void*, int32_t, const char*) {}, nullptr, LB_LOG_DEBUG);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!over)
        EXPECT_EQ(run(model), "ran");
    });
  }
  threads.emplace_back([&] {
    while (!over)
      lb_set_log([](void*, int32_t, const char*) {}, nullptr, LB_LOG_DEBUG);
  });
  for (int i = 0; i < 100; ++i) {
    const auto said = said_by_child([this] {
      std::string words = run(model);
      lb_set_log([](void*, int32_t, const char*) {}, nullptr, LB_LOG_DEBUG);
      lb_set_log(nullptr, nullptr, LB_LOG_DEBUG);
      lb_runtime* own = nullptr;
      if (lb_runtime_create(with_openvino("/nonexistent").get(), &own) != LB_OK) return last_error();
      words += lb_runtime_check(own) == LB_NO_DEVICE ? ", checked" : last_error();
      lb_model_destroy(model);
      lb_runtime_destroy(runtime);
      lb_runtime_destroy(own);
      return words;
    });
    EXPECT_THAT(said, StartsWith("INVALID_ARGUMENT: this model was created before fork()"));
    EXPECT_THAT(said, ::testing::EndsWith(", checked"));
  }
  over = true;
  for (auto& thread : threads)
    thread.join();
}

}  // namespace
