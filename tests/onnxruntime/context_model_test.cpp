// Reading what a compiler has made, whole or damaged.
#include "backends/onnxruntime/context_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latebind::onnxruntime {
namespace {

using testing::ElementsAre;

// One field of protobuf's wire format: with a length, or a number.
std::string field(unsigned number, const std::string& bytes) {
  std::string text(1, static_cast<char>(number << 3U | 2U));
  for (std::size_t size = bytes.size();; size >>= 7U) {
    text += static_cast<char>((size & 0x7FU) | (size > 0x7F ? 0x80U : 0U));
    if (size <= 0x7F) break;
  }
  return text + bytes;
}
std::string number_field(unsigned number, unsigned value) {
  return {static_cast<char>(number << 3U), static_cast<char>(value)};
}

std::string context_node(unsigned embed_mode) {
  return field(1, field(3, "ctx") + field(4, "EPContext") + field(7, "com.microsoft") +
                      field(5, field(1, "ep_cache_context") + field(4, std::string(300, '\xFF'))) +
                      field(5, field(1, "embed_mode") + number_field(3, embed_mode)));
}
std::string other_node() {
  return field(1, field(2, "count") + field(3, "v12_count") + field(4, "Shape"));
}
// ValueInfoProto: i64 [2,n].
std::string value_of(const std::string& name) {
  const std::string shape = field(1, number_field(1, 2)) + field(1, field(2, "n"));
  return field(1, name) + field(2, field(1, number_field(1, 7) + field(2, shape)));
}
std::string entry(const std::string& key, const std::string& value) {
  return field(14, field(1, key) + field(2, value));
}
core::Result<ContextModel> read(const std::string& bytes) {
  return read_context_model(std::as_bytes(std::span(bytes)));
}

TEST(OnnxruntimeContextModelTest, CountsWhatIsCompiledAndNamesWhatIsNot) {
  const auto model = read(field(7, context_node(1) + other_node() + field(2, "graph")) +
                          entry("ep_compatibility_info.QNNExecutionProvider", "v2:73:60"));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->contexts, 1U);
  EXPECT_EQ(model->others.count, 1U);
  EXPECT_THAT(model->others.first, ElementsAre(core::LeftNode{"Shape", "v12_count", ""}));
  EXPECT_TRUE(model->embedded);
  EXPECT_EQ(model->compatibility("QNNExecutionProvider"), "v2:73:60");
  EXPECT_EQ(model->compatibility("Other"), "");
}

TEST(OnnxruntimeContextModelTest, TellsTheShapesOfWhatIsNotCompiledWhereTheModelDoes) {
  for (const unsigned place : {12U, 13U}) {  // an output of the model, or a value within it
    const auto model = read(field(7, other_node() + field(place, value_of("other")) + field(place, value_of("count"))));
    ASSERT_TRUE(model.ok());
    EXPECT_THAT(model->others.first, ElementsAre(core::LeftNode{"Shape", "v12_count", "i64 [2,?]"}));
  }
}

TEST(OnnxruntimeContextModelTest, SeesAContextInAnotherFile) {
  const auto model = read(field(7, context_node(1) + context_node(0)));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->contexts, 2U);
  EXPECT_FALSE(model->embedded);
}

TEST(OnnxruntimeContextModelTest, NamesOnlyTheFirstOfMany) {
  std::string nodes;
  for (int i = 0; i < 500; ++i)
    nodes += other_node();
  const auto model = read(field(7, nodes));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->others.count, 500U);
  EXPECT_EQ(model->others.first.size(), core::LeftNodes::kFirstMax);
}

TEST(OnnxruntimeContextModelTest, RefusesWhatIsCutOffAnywhere) {
  const std::string whole = field(7, context_node(1)) + entry("key", "value");
  const std::size_t graph = field(7, context_node(1)).size();
  ASSERT_TRUE(read(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(read(whole.substr(0, size)).ok(), size == graph) << size;
  }
}

TEST(OnnxruntimeContextModelTest, RefusesWhatIsNoModel) {
  EXPECT_FALSE(read("").ok());
  EXPECT_FALSE(read("this is a text").ok());
  EXPECT_FALSE(read(std::string(100, '\xFF')).ok());
  EXPECT_FALSE(read(entry("key", "value")).ok());
}

}  // namespace
}  // namespace latebind::onnxruntime
