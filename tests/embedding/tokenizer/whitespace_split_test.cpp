// The pre-tokenizer WhitespaceSplit.
#include <gtest/gtest.h>

#include "embedding/tokenizer/part_table.h"
#include "small_tokenizer.h"
#include "tests/support/json.h"
#include "words.h"

namespace latebind::embedding {
namespace {

TEST(WhitespaceSplitTest, SplitsAtWhiteSpaceAlone) {
  const nlohmann::json file = {{"type", "WhitespaceSplit"}};
  const auto part = read_whitespace_split(*JsonView::object(json_of(file), "pre_tokenizer"));
  ASSERT_TRUE(part.ok()) << part.status().to_string();
  EXPECT_EQ(testing::words_of(**part, " Hey friend!\t\u3000a\u2009b\u200bc\n"),
            (std::vector<std::string>{"Hey", "friend!", "a", "b\u200bc"}));
  EXPECT_EQ(testing::words_of(**part, " \n"), std::vector<std::string>{});
  EXPECT_EQ(testing::words_of(**part, ""), std::vector<std::string>{});
}

TEST(WhitespaceSplitTest, IsTakenFromTheFile) {
  nlohmann::json file = testing::small_tokenizer({"hello!", "hello", "!"});
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  EXPECT_EQ(testing::ids_of(file, "Hello! hello"), (std::vector<std::int32_t>{2, 4, 5, 3}));
}

}  // namespace
}  // namespace latebind::embedding
