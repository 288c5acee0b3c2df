// Several methods at once on several threads.
#include <atomic>
#include <barrier>
#include <thread>

#include "tests/hosts/executorch/delegate/fixture.h"

namespace latebind::test {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kRuns = 2'000;
#else
constexpr int kRuns = 10'000;
#endif

TEST_F(DelegateTest, EightMethodsOnEightThreadsAreAllRight) {
  constexpr int kThreads = 8;
  std::vector<std::unique_ptr<Module>> modules;
  for (int i = 0; i < kThreads; ++i) {
    modules.push_back(module_of("input x f32 ?,2\noutput y plus-one 0\n", program_of({"x f32 ?8,2"}, {"y f32 ?8,2"}),
                                "program" + std::to_string(i) + ".pte"));
  }
  std::barrier start(kThreads);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      Module& module = *modules[static_cast<std::size_t>(t)];
      if (module.load_method("forward") != et::Error::Ok) {
        ++wrong;
        return;
      }
      for (int i = 0; i < kRuns; ++i) {
        HostTensor x(ScalarType::Float, {1 + i % 3, 2});
        const auto value = static_cast<float>(t * kRuns + i);
        for (std::size_t v = 0; v < x.bytes().size() / sizeof(float); ++v)
          x.data<float>()[v] = value;
        const auto outputs = module.forward({x.value()});
        if (!outputs.ok()) {
          ++wrong;
          continue;
        }
        const std::vector<float> y = floats((*outputs)[0]);
        if (y.size() != x.bytes().size() / sizeof(float)) ++wrong;
        for (const float one : y)
          if (one != value + 1) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0) << said();
  modules.clear();
  EXPECT_EQ(fake.alive("compiled model") + fake.alive("model") + fake.alive("request"), 0);
  EXPECT_EQ(fake.defects(), "");
}

}  // namespace
}  // namespace latebind::test
