// The normalizer Lowercase.
#include <gtest/gtest.h>

#include "small_tokenizer.h"

namespace latebind::embedding {
namespace {

TEST(LowercaseTest, LowersCaseAndChangesNothingElse) {
  nlohmann::json file = testing::small_tokenizer({"hello", "wörld", "i\u0307", "σασ"});
  file["normalizer"] = {{"type", "Lowercase"}};
  EXPECT_EQ(testing::ids_of(file, "HELLO WÖRLD İ ΣΑΣ hello"), (std::vector<std::int32_t>{2, 4, 5, 6, 7, 4, 3}));
  EXPECT_EQ(testing::ids_of(file, "HEL\u0301LO"), (std::vector<std::int32_t>{2, 1, 3}));
}

}  // namespace
}  // namespace latebind::embedding
