// What one run costs in the steady state: nothing that our code allocates. Sanitizers bring an operator new of their
// own: with them there is nothing to count.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/hosts/executorch/delegate/fixture.h"

namespace {

// Allocations by the code of the delegate's library: every operator new of the process comes through here, and the
// caller's address tells whose it is.
std::atomic<std::size_t> g_allocations{0};
std::atomic<std::uintptr_t> g_begin{0};
std::atomic<std::uintptr_t> g_end{0};

void find_library() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void*) {
        if (std::string_view(info->dlpi_name).find("liblatebind_executorch.so") == std::string_view::npos) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
          g_begin = info->dlpi_addr + header.p_vaddr;
          g_end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
        }
        return 1;
      },
      nullptr);
}

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): counts and hands on
__attribute__((noinline)) void* operator new(std::size_t size) {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (caller >= g_begin.load(std::memory_order_relaxed) && caller < g_end.load(std::memory_order_relaxed)) {
    g_allocations.fetch_add(1, std::memory_order_relaxed);
  }
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
// NOLINTEND(misc-new-delete-overloads)

namespace latebind::test {
namespace {

TEST_F(DelegateTest, ASteadyStateAllocatesNothing) {
  const auto module = module_of("input a f32 2,2\ninput b f32 2,2\noutput sum add\noutput same identity 1\n",
                                program_of({"a f32 2,2", "b f32 2,2"}, {"sum f32 2,2", "same f32 2,2"}));
  HostTensor a(ScalarType::Float, {2, 2});
  HostTensor b(ScalarType::Float, {2, 2});
  const std::vector<et::EValue> inputs{a.value(), b.value()};
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(module->forward(inputs).ok()) << said();
  find_library();
  ASSERT_NE(g_begin, 0U);
  // Whatever is counted below could have been counted: loading allocates.
  const std::size_t before_loading = g_allocations;
  ASSERT_EQ(module_of("input x f32 2\noutput y identity 0\n", program_of({"x f32 2"}, {"y f32 2"}), "other.pte")
                ->load_method("forward"),
            et::Error::Ok);
  ASSERT_GT(g_allocations, before_loading);
  const std::size_t before = g_allocations;
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(module->forward(inputs).ok());
  EXPECT_EQ(g_allocations - before, 0U);
}

}  // namespace
}  // namespace latebind::test

#endif
