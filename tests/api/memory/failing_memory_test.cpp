// Memory that gives out anywhere on the way through the C interface: every call answers with a code, nothing ends the
// process or hangs, and afterwards everything works. On the fake OpenVINO library and the tiny model of the tests.
//
// Each allocation that fails has a process of its own, in which everything happens for the first time. It is every
// third one, of each circumstance another, and with LATEBIND_TEST_EVERY_ALLOCATION=1 every one. With
// LATEBIND_FAIL_ALLOCATION=N the tests do that one alone, and in their own process, for a debugger.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <system_error>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/encode.h"
#include "tests/fakes/fake_openvino_library.h"
#include "tests/support/failing_new.h"

namespace latebind::test {
namespace {

constexpr const char* kModel = "<net/>\nfake-model\ninput x f32 ?,2\noutput y plus-one 0\n";
constexpr std::uint64_t kEachUpTo = 2000;
// Sanitizers make all of this several times slower: with them it is some of each.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kStep = 7;
#else
constexpr std::uint64_t kStep = 1;
#endif
constexpr std::uint64_t kThird = 3;
constexpr unsigned kSecondsMax = 60;
constexpr std::size_t kSideBySide = 2;

enum Exit : int { kGood = 0, kNothingRefused = 1, kBad = 2 };

// What the calls need, made before memory gives out.
struct Places {
  std::string library;
  std::string folder;  // of the tiny model
  std::string cache;
};

// One way through the interface. Makes nothing of its own on the heap.
class Way {
 public:
  // `must_work`: memory is there, and any error is wrong.
  Way(const Places& places, bool must_work) : places_(places), must_work_(must_work) {}

  bool go() {
    lb_set_log([](void*, std::int32_t, const char*) {}, nullptr, LB_LOG_DEBUG);
    lb_options* options = nullptr;
    lb_runtime* runtime = nullptr;
    if (check("lb_options_create", lb_options_create(&options)) &&
        set(options, "openvino.library", places_.library.c_str()) &&
        set(options, "onnxruntime.library", "/nonexistent") && set(options, "onnxruntime.providers", "none") &&
        check("lb_runtime_create", lb_runtime_create(options, &runtime))) {
      list(runtime);
      run(runtime);
      embed(runtime);
      have_a_job_done(runtime);
    }
    lb_runtime_destroy(runtime);
    lb_options_destroy(options);
    lb_set_log(nullptr, nullptr, 0);
    return good_;
  }

 private:
  // True when the call worked. An error must be one that lack of memory can be the reason for: not the caller's
  // mistake.
  bool check(const char* call, lb_code code) {
    if (code == LB_OK) return true;
    auto error = LB_INIT(lb_error);
    lb_last_error(&error);
    const bool sensible = !must_work_ && code >= LB_LIBRARY_NOT_FOUND && error.code == code &&
                          error.message != nullptr && error.vendor_text != nullptr && std::strlen(error.message) > 0;
    if (sensible) return false;
    (void)std::fprintf(stderr, "%s: %s: %s\n", call, lb_code_name(code), error.message);
    return good_ = false;
  }

  bool set(lb_options* options, const char* key, const char* text) {
    return check("lb_options_set", lb_options_set(options, key, text));
  }

  // Over those of the runtime.
  bool make(lb_options*& options) {
    lb_option_value value = LB_INIT(lb_option_value);
    return check("lb_options_create", lb_options_create(&options)) && set(options, "device", "cpu") &&
           set(options, "device", nullptr) && set(options, "device", "gpu,cpu") &&
           set(options, "cache.folder", places_.cache.c_str()) &&
           check("lb_options_get", lb_options_get(options, "device", &value)) &&
           check("lb_options_apply", lb_options_apply(options, options));
  }

  void expect(const char* what, bool holds) {
    if (holds) return;
    (void)std::fprintf(stderr, "%s\n", what);
    good_ = false;
  }

  void list(const lb_runtime* runtime) {
    lb_device_list* list = nullptr;
    if (check("lb_device_list_create", lb_device_list_create(runtime, 1, &list))) {
      for (size_t i = 0; i < lb_device_list_count(list); ++i) {
        auto device = LB_INIT(lb_device);
        check("lb_device_list_get", lb_device_list_get(list, i, &device));
      }
    }
    lb_device_list_destroy(list);
  }

  void show(const char* call, lb_code code, lb_attestation* const& attestation) {
    if (check(call, code)) {
      auto active = LB_INIT(lb_active);
      check("lb_attestation_get", lb_attestation_get(attestation, &active));
    }
    lb_attestation_destroy(attestation);
  }

  void run(const lb_runtime* runtime) {
    lb_options* options = nullptr;
    if (!make(options)) return lb_options_destroy(options);
    auto memory = LB_INIT(lb_model_memory);
    memory.format = LB_FORMAT_BY_FIRST_BYTES;
    memory.graph = kModel;
    memory.graph_size = std::strlen(kModel);
    int released = 0;
    memory.context = &released;
    memory.release = [](void* context) { ++*static_cast<int*>(context); };
    lb_model* model = nullptr;
    const bool loaded = check("lb_model_load_memory", lb_model_load_memory(runtime, &memory, options, nullptr, &model));
    lb_options_destroy(options);
    lb_output* output = nullptr;
    if (loaded && check("lb_output_create", lb_output_create(nullptr, 0, &output))) {
      std::array<float, 6> values{1, 2, 3, 4, 5, 6};
      for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}}) {
        lb_tensor input{};
        input.data = values.data();
        input.type = LB_F32;
        input.rank = 2;
        input.shape[0] = rows;
        input.shape[1] = 2;
        auto call = LB_INIT(lb_call_options);
        lb_attestation* answered_by = nullptr;
        call.answered_by = &answered_by;
        call.timeout_ms = rows == 1 ? 0 : 60'000;
        if (check("lb_model_run", lb_model_run(model, &input, 1, &output, 1, &call))) {
          lb_tensor made{};
          check("lb_output_get", lb_output_get(output, &made));
          expect("the answer is right", made.shape[0] == rows && static_cast<const float*>(made.data)[1] == 3.0F);
        }
        lb_attestation_destroy(answered_by);
      }
      lb_attestation* attestation = nullptr;
      show("lb_model_attestation", lb_model_attestation(model, &attestation), attestation);
    }
    lb_output_destroy(output);
    lb_model_destroy(model);
    expect("the model's memory is released once", released == 1);
  }

  void have_a_job_done(const lb_runtime* runtime) {
    lb_job* job = nullptr;
    if (check("lb_job_start", lb_job_start(runtime, "devices", R"({"virtual": true})", nullptr, &job)) &&
        check("lb_job_wait", lb_job_wait(job, 60'000, nullptr))) {
      const char* report = nullptr;
      if (check("lb_job_result", lb_job_result(job, &report))) expect("there is a report", *report == '{');
    }
    lb_job_destroy(job);
  }

  void embed(const lb_runtime* runtime) {
    lb_encoder* embedder = nullptr;
    if (check("lb_encoder_open",
              lb_encoder_open(runtime, places_.folder.c_str(), nullptr, nullptr, nullptr, &embedder))) {
      const std::array<lb_text, 3> texts{lb_text{"a cat sat on the mat", 20}, lb_text{"", 0}, lb_text{"a dog", 5}};
      std::array<float, 3 * 32> vectors{};
      auto stats = LB_INIT(lb_encode_stats);
      if (check("lb_encoder_encode",
                encode_into(vectors, embedder, texts.data(), texts.size(), nullptr, nullptr, &stats))) {
        expect("three texts were embedded", stats.texts == 3);
      }
      auto call = LB_INIT(lb_call_options);
      call.timeout_ms = 60'000;
      auto options = LB_INIT(lb_encode_options);
      options.dimensions = 8;
      check("lb_encoder_encode in time", encode_into(vectors, embedder, texts.data(), texts.size(), &options, &call));
      read_results(embedder, texts);
      stream(embedder, texts);
      count_tokens(embedder, texts);
      lb_attestation* attestation = nullptr;
      show("lb_encoder_attestation", lb_encoder_attestation(embedder, &attestation), attestation);
    }
    lb_encoder_destroy(embedder);
  }

  void read_results(const lb_encoder* embedder, std::span<const lb_text> texts) {
    lb_results* results = nullptr;
    lb_dense_rows rows{};
    if (check("lb_encoder_encode with results",
              lb_encoder_encode(embedder, texts.data(), texts.size(), nullptr, nullptr, &results, nullptr)) &&
        check("lb_results_dense", lb_results_dense(results, "dense", &rows))) {
      expect("each text has a row", rows.count == texts.size() && rows.dimension == 32);
    }
    lb_results_destroy(results);
  }

  void stream(const lb_encoder* embedder, std::span<const lb_text> texts) {
    lb_stream* stream = nullptr;
    auto windows = LB_INIT(lb_stream_options);
    windows.window_texts = 2;
    std::size_t taken = 0;
    if (check("lb_stream_open", lb_stream_open(embedder, nullptr, &windows, &stream)) &&
        check("lb_stream_push", lb_stream_push(stream, texts.data(), texts.size(), &taken)) &&
        check("lb_stream_finish", lb_stream_finish(stream))) {
      std::size_t pulled = 0;
      bool has_ended = false;
      auto window = LB_INIT(lb_window);
      while (!has_ended && check("lb_stream_pull", lb_stream_pull(stream, nullptr, &window))) {
        pulled += lb_results_count(window.results);
        has_ended = window.count == 0;
      }
      if (has_ended) expect("all that was pushed is pulled", pulled == texts.size());
    }
    lb_stream_destroy(stream);
  }

  void count_tokens(const lb_encoder* embedder, std::span<const lb_text> texts) {
    lb_tokenizer* tokenizer = nullptr;
    lb_token_list* list = nullptr;
    lb_token_ids ids{};
    if (check("lb_encoder_tokenizer", lb_encoder_tokenizer(embedder, &tokenizer)) &&
        check("lb_tokenizer_encode", lb_tokenizer_encode(tokenizer, texts.data(), texts.size(), 0, &list)) &&
        check("lb_token_list_get", lb_token_list_get(list, 1, &ids, nullptr))) {
      expect("an empty text has its special tokens", ids.count == 2);
    }
    lb_token_list_destroy(list);
    lb_tokenizer_destroy(tokenizer);
  }

  const Places& places_;
  const bool must_work_;
  bool good_ = true;
};

struct Circumstances {
  const char* name;
  Refusal refusal;
  const char* fault;    // of the first device, for the ways that lead to the next one
  std::uint64_t first;  // of the allocations that fail, where it is a third of them
};

void PrintTo(const Circumstances& of, std::ostream* out) {
  *out << of.name;
}

class FailingMemoryTest : public ::testing::TestWithParam<Circumstances> {
 protected:
  void SetUp() override {
    fake_.script(std::string("encoder 32\ndevice GPU\ndevice CPU\n") + GetParam().fault);
    places_.library = fake_.file().string();
    places_.folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
    places_.cache = (fake_.folder() / "cache").string();
  }

  // The way with the n-th allocation refused, and once more with all the memory there is.
  [[nodiscard]] int attempt(std::uint64_t n) const {
    Places places = places_;
    places.cache += "-" + std::to_string(n);
    refuse_allocation(n, GetParam().refusal);
    const bool survived = Way(places, false).go();
    const bool refused = stop_refusing();
    const bool works = Way(places, true).go() && nothing_is_left();
    std::error_code ignored;
    std::filesystem::remove_all(places.cache, ignored);
    if (!survived || !works) return kBad;
    return refused ? kGood : kNothingRefused;
  }

  // What was under way in the background may take its time to end.
  [[nodiscard]] bool nothing_is_left() const {
    for (int tries = 0; tries < 10'000; ++tries) {
      if (fake_.alive("compiled model") == 0) return true;
      ::usleep(1'000);
    }
    (void)std::fprintf(stderr, "%ld compiled models are left\n", fake_.alive("compiled model"));
    return false;
  }

  [[nodiscard]] pid_t start(std::uint64_t n) const {
    (void)std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::alarm(kSecondsMax);
    ::_exit(attempt(n));
  }

  FakeOpenvino fake_;
  Places places_;
};

TEST_P(FailingMemoryTest, EveryCallAnswersAndNothingEnds) {
  if (const char* one = std::getenv("LATEBIND_FAIL_ALLOCATION")) {
    EXPECT_EQ(attempt(std::strtoull(one, nullptr, 10)), kGood);
    return;
  }
  std::map<pid_t, std::uint64_t> running;
  const bool is_each = std::getenv("LATEBIND_TEST_EVERY_ALLOCATION") != nullptr;
  const std::uint64_t step = is_each ? kStep : kStep * kThird;
  std::uint64_t next = is_each ? 1 : GetParam().first;
  bool over = false;
  std::size_t bad = 0;
  while (!over || !running.empty()) {
    while (!over && running.size() < kSideBySide) {
      const pid_t child = start(next);
      ASSERT_GT(child, 0);
      running[child] = next;
      next += next < kEachUpTo ? step : next / 50;
    }
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    const auto found = running.find(ended);
    if (found == running.end()) continue;
    const std::uint64_t n = found->second;
    running.erase(found);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNothingRefused) over = true;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= kNothingRefused) continue;
    ADD_FAILURE() << "allocation " << n << (WIFSIGNALED(status) ? ": ended by signal " : ": exit code ")
                  << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    over = over || ++bad >= 10;
  }
  RecordProperty("allocations", static_cast<int>(next));
}

// Every one of them, for no thread takes part in it.
class FailingMemoryOfFilesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(FailingMemoryOfFilesTest, AModelFolderIsReadOrTheCallAnswers) {
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/" + GetParam();
  std::uint64_t n = 0;
  for (bool was_refused = true; was_refused;) {
    lb_tokenizer* tokenizer = nullptr;
    refuse_allocation(++n, Refusal::kFromThenOn);
    const lb_code code = lb_tokenizer_open(folder.c_str(), &tokenizer);
    was_refused = stop_refusing();
    ASSERT_EQ(code == LB_OK, tokenizer != nullptr) << n;
    ASSERT_TRUE(code == LB_OK || code == LB_OUT_OF_MEMORY) << n << ": " << lb_code_name(code);
    lb_tokenizer_destroy(tokenizer);
  }
  EXPECT_GT(n, 100U);
}

INSTANTIATE_TEST_SUITE_P(Folders, FailingMemoryOfFilesTest,
                         ::testing::Values("tiny-bert/f32", "cross_encoders/saved", "networks/gemma3_text",
                                           "multi_vector_encoders/distilbert", "multi_vector_encoders/modernbert",
                                           "multi_vector_encoders/stanford", "networks/modernbert", "networks/qwen3",
                                           "sparse_encoders/albert", "sparse_encoders/roberta"));

constexpr const char* kRunFails = "on GPU fail run 1 -1 the driver died\n";
constexpr const char* kLoadFails = "on GPU fail ov_core_compile_model * -1 the compiler crashed\n";

INSTANTIATE_TEST_SUITE_P(Memory, FailingMemoryTest,
                         ::testing::Values(Circumstances{"Once", Refusal::kOnce, kRunFails, 1},
                                           Circumstances{"FromThenOn", Refusal::kFromThenOn, kRunFails, 2},
                                           Circumstances{"OnceWhereADeviceDoesNotLoad", Refusal::kOnce, kLoadFails, 3}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace latebind::test
