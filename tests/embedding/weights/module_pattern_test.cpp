#include "embedding/weights/adapters/module_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace latebind::embedding {
namespace {

using core::StatusCode;
using Scope = ModulePattern::Scope;
using ::testing::HasSubstr;

constexpr std::string_view kModules[] = {"encoder.layer.0.attention.self.query",
                                         "encoder.layer.1.attention.self.query",
                                         "encoder.layer.11.attention.self.key",
                                         "query",
                                         "self_query",
                                         "layers.3.mlp.down_proj",
                                         "layers.13.mlp.up_proj",
                                         "a.b"};

// Whether each of the modules matches by re.match(rf"(.*\.)?({expression})$") and by re.fullmatch(expression), from
// Python 3.11.
struct Case {
  std::string_view expression;
  std::string_view end;
  std::string_view whole;
};
constexpr Case kCases[] = {
    {"query", "11010000", "00010000"},
    {"self.query", "11001000", "00001000"},
    {"attention.*query", "11000000", "00000000"},
    {"(query|key)", "11110000", "00010000"},
    {"query|key", "11110000", "00010000"},
    {"layer\\.1\\..*", "01000000", "00000000"},
    {".*layer\\.\\d+\\.attention\\.self\\.(query|key)", "11100000", "11100000"},
    {"^query", "00010000", "00010000"},
    {"^encoder.*", "11100000", "11100000"},
    {"layers.(3|13).mlp.(up|down)_proj", "00000110", "00000110"},
    {"layers\\.[0-9]\\.mlp\\.\\w+", "00000100", "00000100"},
    {"(?!.*down).*_proj", "00000010", "00000010"},
    {"q.*y", "11010000", "00010000"},
    {".*", "11111111", "11111111"},
    {"layer\\.1{2}\\..*key", "00100000", "00000000"},
    {"a.b", "00000001", "00000001"},
    {"a\\.b", "00000001", "00000001"},
    {"^a.b$", "00000001", "00000001"},
    {"Query", "00000000", "00000000"},
};

std::string matches_of(const ModulePattern& pattern) {
  std::string found;
  for (const std::string_view module : kModules) {
    const auto matches = pattern.matches(module);
    EXPECT_TRUE(matches.ok()) << matches.status().to_string();
    found += matches.ok() && *matches ? '1' : '0';
  }
  return found;
}

TEST(ModulePatternTest, MatchesAsInPython) {
  for (const Case& one : kCases) {
    for (const auto& [scope, wanted] : {std::pair{Scope::kEnd, one.end}, std::pair{Scope::kWhole, one.whole}}) {
      const auto pattern = ModulePattern::make(one.expression, scope);
      ASSERT_TRUE(pattern.ok()) << pattern.status().to_string();
      EXPECT_EQ(matches_of(*pattern), wanted) << one.expression;
    }
  }
}

TEST(ModulePatternTest, RefusesWhatPythonReadsDifferently) {
  for (const auto& [expression, part] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"(?P<layer>a)", "'(?P'"},
                                                                            {"(?i)a", "'(?i'"},
                                                                            {"[[:alpha:]]", "'[['"},
                                                                            {"[a-z&&[b]]", "'&&'"},
                                                                            {"a\\Z", "'\\Z'"},
                                                                            {"\\1", "'\\1'"},
                                                                            {"\\p{L}", "'\\p'"},
                                                                            {"a\\", "'\\'"}}) {
    const auto pattern = ModulePattern::make(expression, Scope::kWhole);
    ASSERT_FALSE(pattern.ok()) << expression;
    EXPECT_EQ(pattern.status().code(), StatusCode::kUnsupported) << expression;
    EXPECT_THAT(std::string(pattern.status().message()), HasSubstr(part)) << expression;
  }
  for (const std::string_view expression : {"", "(", "a)", "*a", "\xff"})
    EXPECT_FALSE(ModulePattern::make(expression, Scope::kWhole).ok()) << expression;
}

TEST(ModulePatternTest, EndsWithinALimit) {
  const auto pattern = ModulePattern::make("(a|a|aa|aaa)+c", Scope::kWhole);
  ASSERT_TRUE(pattern.ok()) << pattern.status().to_string();
  const auto matches = pattern->matches(std::string(4000, 'a'));
  EXPECT_TRUE(matches.ok() ? !*matches : matches.status().code() == StatusCode::kUnsupported);
}

}  // namespace
}  // namespace latebind::embedding
