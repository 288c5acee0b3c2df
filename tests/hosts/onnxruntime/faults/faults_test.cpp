// A host whose functions fail, give nothing or give garbage, one call after the other; and memory that gives out.
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "core/platform/files/temporary_folder.h"
#include "tests/hosts/onnxruntime/faults/visit.h"

namespace latebind::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kAllocationsTried = 150;
#else
constexpr std::uint64_t kAllocationsTried = 600;
#endif

// A visit with the n-th call of the host going wrong ends with a text, or as if nothing had been.
void expect_error_or_right(const Outcome& outcome, const std::string& what) {
  if (outcome.error.empty()) {
    EXPECT_TRUE(outcome.is_right || outcome.is_left || outcome.devices == 0 || !outcome.contexts.empty()) << what;
    return;
  }
  for (const char* defect : {"WRONG NUMBERS", "NO NODE", "NO FACTORY", "NO PROVIDER", "an error without a text"})
    EXPECT_NE(outcome.error, defect) << what;
}

class HostFaultTest : public ProviderFaultTest, public testing::WithParamInterface<HostFault> {
 protected:
  void each_call(const Scene& scene) {
    const Outcome good = visit(scene);
    ASSERT_EQ(good.error, "");
    fault_host_call(0, GetParam());
    (void)visit(scene);
    const std::uint64_t calls = host_calls();
    ASSERT_GT(calls, 50U);
    std::size_t errors = 0;
    for (std::uint64_t n = 1; n <= calls; ++n) {
      fault_host_call(n, GetParam());
      const Outcome outcome = visit(scene);
      const std::string what = "call " + std::to_string(n) + ", " + faulted_function() + ": " + outcome.error;
      ASSERT_NE(faulted_function(), "") << n;
      fault_host_call(0, GetParam());
      if (!outcome.error.empty()) ++errors;
      expect_error_or_right(outcome, what);
      expect_balance(what);
      if (HasFailure()) return;
    }
    EXPECT_GT(errors, 5U);
  }
};

TEST_P(HostFaultTest, OfARunIsAnErrorOrChangesNothing) {
  each_call({.graph = plus_one()});
}
TEST_P(HostFaultTest, OfAModelInPartsIsAnErrorOrChangesNothing) {
  each_call({.settings = {{"ep.latebind.precision", "f32"}, {"latebind.timeout_ms", "60000"}}, .graph = in_parts()});
}
TEST_P(HostFaultTest, OfCompilingIsAnErrorOrChangesNothing) {
  each_call({.settings = {{"ep.context_enable", "1"}, {"ep.context_embed_mode", "1"}}, .graph = plus_one("2,2")});
}
TEST_P(HostFaultTest, OfListingVirtualDevicesIsAnErrorOrChangesNothing) {
  std::filesystem::copy_file(fake.file(), fake.folder() / "libopenvino_intel_npu_compiler_loader.so");
  fake.script("device CPU\nregistered NPU\n");
  set_environment({{"allow_virtual_devices", "1"}});
  Scene scene{.graph = plus_one()};
  EXPECT_GT(visit(scene).devices, 1U);
  each_call(scene);
}

INSTANTIATE_TEST_SUITE_P(Faults, HostFaultTest,
                         testing::Values(HostFault::kFails, HostFault::kNull, HostFault::kGarbage),
                         [](const auto& fault) {
                           return fault.param == HostFault::kFails  ? "Fails"
                                  : fault.param == HostFault::kNull ? "Null"
                                                                    : "Garbage";
                         });

class NoMemoryTest : public ProviderFaultTest {
 protected:
  void SetUp() override {
    ProviderFaultTest::SetUp();
    auto made = platform::TemporaryFolder::create("latebind-no-memory");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<platform::TemporaryFolder>(*std::move(made));
    std::filesystem::create_directory(temporary());
    setenv("TMPDIR", temporary().c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    ProviderFaultTest::TearDown();
  }
  [[nodiscard]] std::filesystem::path temporary() const { return folder_->path() / "files"; }
  void each_allocation(const Scene& scene) {
    // Twice: what stays for the process is there then.
    ASSERT_EQ(visit(scene).error, "");
    ASSERT_EQ(visit(scene).error, "");
    refuse_allocation(UINT64_MAX, Refusal::kOnce);
    (void)visit(scene);
    const std::uint64_t all = allocations_counted();
    stop_refusing();
    ASSERT_GT(all, 100U);
    const std::uint64_t step = all / kAllocationsTried + 1;
    std::size_t errors = 0;
    for (std::uint64_t n = 1; n <= all; n += step) {
      refuse_allocation(n, Refusal::kOnce);
      const Outcome outcome = visit(scene);
      stop_refusing();
      const std::string what = "allocation " + std::to_string(n) + ": " + outcome.error;
      if (!outcome.error.empty()) ++errors;
      expect_error_or_right(outcome, what);
      expect_balance(what);
      // A temporary folder of Latebind's own may stay where there is no memory to remove it; the next one sweeps it.
      for (const auto& left : std::filesystem::directory_iterator(temporary()))
        if (!std::filesystem::is_empty(left) && !left.path().filename().string().starts_with("latebind-context-"))
          ADD_FAILURE() << what << " leaves " << left.path();
      if (HasFailure()) return;
    }
    EXPECT_GT(errors, 20U);
    EXPECT_EQ(visit(scene).error, "");
  }

  std::unique_ptr<platform::TemporaryFolder> folder_;
};

TEST_F(NoMemoryTest, ForARunIsAnError) {
  each_allocation({.graph = plus_one()});
}
TEST_F(NoMemoryTest, ForAModelInPartsIsAnError) {
  each_allocation({.graph = in_parts()});
}
TEST_F(NoMemoryTest, ForCompilingIsAnError) {
  each_allocation({.settings = {{"ep.context_enable", "1"}, {"ep.context_embed_mode", "1"}}, .graph = plus_one("2,2")});
}

}  // namespace
}  // namespace latebind::test
