// Options of garbage in stock ONNX Runtime, and memory that gives out within the provider.
#include <string>

#include "core/platform/files/temporary_folder.h"
#include "tests/hosts/onnxruntime/stock/scene.h"
#include "tests/support/failing_new.h"

namespace latebind::test {
namespace {

class StockOptionsTest : public StockHostTest {};

TEST_F(StockOptionsTest, OfGarbageAreErrors) {
  for (const char* key : {" ", "device\n", "%s%s%n", "property.", "nested", "targets\xff", "precision", "threads",
                          "emulate", "cache.folder\x01", "presicion", "openvino.known_errors", "device"}) {
    for (const char* value : {"\x01%n\xff;../..", "-1", "99999999999999999999999"}) {
      const std::string error = use(plus_one_model(), {{key, value}});
      EXPECT_NE(error.find("Latebind"), std::string::npos) << key << '=' << value << ": " << error;
    }
  }
  // The most that the host takes.
  const std::string long_value(8000, 'x');
  const std::string long_key(1000, 'x');
  EXPECT_NE(use(plus_one_model(), {{"device", long_value}}), "");
  EXPECT_NE(use(plus_one_model(), {{long_key, "1"}}), "");
  EXPECT_EQ(use(plus_one_model()), "");
}

TEST_F(StockOptionsTest, OfASessionThatWritesWhatCannotBeWrittenIsAnError) {
  for (const char* path : {"/nonexistent/model_ctx.onnx", "/proc/model_ctx.onnx"}) {
    OrtSession* session = nullptr;
    EXPECT_NE(session_of(plus_one_model(), &session, {}, {{"ep.context_enable", "1"}, {"ep.context_file_path", path}}),
              "");
    EXPECT_EQ(session, nullptr);
  }
}

class StockMemoryTest : public StockHostTest {
 protected:
  // Each allocation of the provider's, in turn, fails while `visit` is at work: "" when that was right, else its error.
  template <class Visit>
  void each_allocation(Visit visit) {
    // Twice: what stays for the process is there then.
    ASSERT_EQ(visit(), "");
    ASSERT_EQ(visit(), "");
    refuse_allocation(UINT64_MAX, Refusal::kOnce, Refused::kProviders);
    EXPECT_EQ(visit(), "");
    const std::uint64_t all = allocations_counted();
    stop_refusing();
    ASSERT_GT(all, 100U);
    int errors = 0;
    for (std::uint64_t n = 1; n <= all; n += all / kTried + 1) {
      refuse_allocation(n, Refusal::kOnce, Refused::kProviders);
      const std::string error = visit();
      stop_refusing();
      EXPECT_NE(error, "WRONG NUMBERS") << n;
      if (!error.empty()) ++errors;
      for (const char* kind : {"model", "compiled model", "request"})
        EXPECT_EQ(fake_.alive(kind), 0) << kind << ", allocation " << n << ": " << error;
      if (HasFailure()) return;
    }
    EXPECT_GT(errors, 10);
    EXPECT_EQ(visit(), "");
  }
  static constexpr std::uint64_t kTried = 200;
};

TEST_F(StockMemoryTest, ThatGivesOutForASessionAndARunIsAnError) {
  const std::string model = plus_one_model();
  each_allocation([&] { return use(model); });
}

}  // namespace
}  // namespace latebind::test
