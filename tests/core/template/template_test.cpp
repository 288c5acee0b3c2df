// Templates beside transformers (tests/data/templates/make.py), what is refused, and the limits.
#include "core/template/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "core/json/parse.h"
#include "core/json/value.h"

namespace latebind::templates {
namespace {

using core::Json;
using core::StatusCode;
using ::testing::HasSubstr;

std::tm some_time() {
  std::tm time{};
  time.tm_year = 126;
  time.tm_mon = 10;
  time.tm_mday = 30;
  time.tm_hour = 14;
  time.tm_min = 5;
  time.tm_sec = 9;
  time.tm_wday = 1;
  time.tm_yday = 333;
  return time;
}

core::Result<std::string> rendered(std::string_view source, const Variables& variables = {},
                                   const Limits& limits = {}) {
  auto parsed = Template::parse(source, limits);
  if (!parsed.ok()) return parsed.status();
  return parsed->render(variables, some_time);
}

// Requires that the template gives the text, or is refused as in the reference.
void expect_same(std::string_view source, const Variables& variables, const Json& text) {
  const auto result = rendered(source, variables);
  if (text.is_null()) {
    EXPECT_FALSE(result.ok()) << source << "\ngives " << *result << "\nwhich the reference refuses";
    return;
  }
  ASSERT_TRUE(result.ok()) << source << "\n" << result.status().to_string();
  EXPECT_EQ(*result, text.text()) << source;
}

Json read(std::string_view name) {
  const auto file = std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/templates" / name;
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  Json json;
  const auto mistake = core::read_json(text, {.bytes_max = text.size()}, json);
  EXPECT_FALSE(mistake) << name << ": " << *mistake;
  return json;
}

TEST(TemplateTest, GivesTheTextsOfTheReference) {
  const Json cases = read("cases.json");
  Variables variables;
  for (const auto& [name, value] : cases["variables"].members())
    variables.emplace_back(name, Value::of(value));
  EXPECT_GT(cases["texts"].size(), 400U);
  for (const Json& one : cases["texts"])
    expect_same(one["template"].text(), variables, one["text"]);
}

TEST(TemplateTest, RendersConversationsAsTheReference) {
  const Json cases = read("cases.json");
  const Json chats = read("chats.json");
  EXPECT_GT(chats.size(), 30U);
  for (const Json& one : cases["chats"]) {
    std::string source;
    for (const Json& line : chats[one["name"].text()])
      source += line.text();
    const Variables variables{
        {"messages", Value::of(cases["conversations"][one["messages"].text()])},
        {"add_generation_prompt", Value::boolean(one["prompt"].get<bool>())},
        {"tools", one["tools"].get<bool>() ? Value::of(cases["tools"]) : Value::none()},
        {"documents", Value::none()},
        {"bos_token", Value::text("<s>")},
        {"eos_token", Value::text("</s>")},
    };
    SCOPED_TRACE(one["name"].text() + ", " + one["messages"].text());
    expect_same(source, variables, one["text"]);
  }
}

struct Refused {
  std::string_view source;
  StatusCode code;
  std::string_view words;
};

TEST(TemplateTest, RefusesWhatItDoesNotKnowByName) {
  const Refused cases[] = {
      {"a\n{{ 'x' | wordwrap }}", StatusCode::kUnsupported, "line 2: the filter 'wordwrap' is not supported"},
      {"{{ 'x' is filter }}", StatusCode::kUnsupported, "the test 'filter' is not supported"},
      {"{{ 'x'.format(1) }}", StatusCode::kUnsupported, "'format' of a text is not supported"},
      {"{{ 'x'.encode() }}", StatusCode::kUnsupported, "'encode' of a text is not supported"},
      {"{{ [1].append(2) }}", StatusCode::kUnsupported, "'append' of a list is not supported"},
      {"{{ {}.__class__ }}", StatusCode::kUnsupported, "'__class__' of a dictionary is not supported"},
      {"{{ lipsum() }}", StatusCode::kUnsupported, "'lipsum' is not supported"},
      {"{{ 'ß' | upper }}", StatusCode::kUnsupported, "upper and lower case of 'ß' are not supported"},
      {"{{ range(3) }}", StatusCode::kUnsupported, "the text of a range is not supported"},
      {"{{ [1] | select }}", StatusCode::kUnsupported, "the text of an iterator is not supported"},
      {"{{ {}.items }}", StatusCode::kUnsupported, "the text of a function is not supported"},
      {"{{ 7 is sameas 7 }}", StatusCode::kUnsupported, "the test 'sameas' of an integer is not supported"},
      {"{{ 2 ** 3 }}", StatusCode::kUnsupported, "the operator '**' is not supported"},
      {"{{ 0x10 }}", StatusCode::kUnsupported, "numbers in bases other than 10 are not supported"},
      {"{{ 9223372036854775807 + 1 }}", StatusCode::kUnsupported, "integers beyond 64 bits are not supported"},
      {"{{ 9223372036854775808 }}", StatusCode::kUnsupported, "is not a 64-bit integer"},
      {"{{ '\\ud800' }}", StatusCode::kUnsupported, "escapes of surrogates are not supported"},
      {"{% include 'x' %}", StatusCode::kUnsupported, "the statement 'include' is not supported"},
      {"{% import 'x' as y %}", StatusCode::kUnsupported, "the statement 'import' is not supported"},
      {"{% call m() %}{% endcall %}", StatusCode::kUnsupported, "the statement 'call' is not supported"},
      {"{% for i in [1] recursive %}{% endfor %}", StatusCode::kUnsupported, "'recursive' is not supported"},
      {"{{ f(*x) }}", StatusCode::kUnsupported, "'*' and '**' before arguments are not supported"},
      {"{{ 'a' | tojson(nope=1) }}", StatusCode::kUnsupported, "the argument 'nope' of tojson is not supported"},
      {"{{ strftime_now('%Q') }}", StatusCode::kUnsupported, "'%Q' in strftime_now() is not supported"},
      {"{{ raise_exception('no\nway') }}", StatusCode::kInvalidArgument,
       "line 1: the template refuses this: no\\x0away"},
      {"\n{{ missing.x }}", StatusCode::kInvalidModel, "line 2: 'missing' is not defined"},
      {"{{ 'ab'.removeprefix(prefix='a') }}", StatusCode::kInvalidModel, "takes no arguments by their names"},
      {"{{ 'ab'.removesuffix(('b',)) }}", StatusCode::kInvalidModel, "removesuffix() of a tuple, not of a text"},
      {"{{ none + 1 }}", StatusCode::kInvalidModel, "'+' of none and an integer"},
      {"{% set ns = namespace() %}{% for i in [1] %}{% set ns.x = loop %}{% endfor %}", StatusCode::kUnsupported,
       "'loop' in a namespace is not supported"},
      {"{% macro m() %}{% endmacro %}{{ [m] }}", StatusCode::kUnsupported, "a function in a list is not supported"},
      {"x\n{% if a %}\n", StatusCode::kInvalidModel, "line 2: a block has no end: 'endif' is missing"},
      {"{{ a", StatusCode::kInvalidModel, "line 1: a tag has no end: '}}' is missing"},
      {"\xC3", StatusCode::kInvalidModel, "the template is not UTF-8 at byte 0"},
  };
  for (const Refused& one : cases) {
    const auto result = rendered(one.source);
    ASSERT_FALSE(result.ok()) << one.source << " gives " << *result;
    EXPECT_EQ(result.status().code(), one.code) << one.source << ": " << result.status().to_string();
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(one.words));
  }
}

TEST(TemplateTest, EndsWithinItsLimits) {
  const Refused cases[] = {
      {"{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", StatusCode::kTextTooLong,
       "steps"},
      {"{% set ns = namespace(a='ab') %}{% for i in range(99) %}{% set ns.a = ns.a + ns.a %}{% endfor %}",
       StatusCode::kTextTooLong, ""},
      {"{{ 'ab' * 1000000000 }}", StatusCode::kTextTooLong, "bytes"},
      {"{{ [1] * 1000000000000 }}", StatusCode::kTextTooLong, ""},
      {"{{ range(9223372036854775807) }}", StatusCode::kTextTooLong, "steps"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", StatusCode::kTextTooLong, "nested deeper than"},
      {"{% set ns = namespace(a=[]) %}{% for i in range(999) %}{% set ns.a = [ns.a] %}{% endfor %}",
       StatusCode::kInvalidModel, "lists are nested deeper than 64"},
      // One list in another many times, and a comparison of such.
      {"{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}",
       StatusCode::kTextTooLong, "a list has too much content"},
      {"{% set ns = namespace(a=[1]) %}{% for i in range(15) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}"
       "{% for i in range(100000) %}{% if ns.a == ns.a %}{% endif %}{% endfor %}",
       StatusCode::kTextTooLong, "steps"},
      {"{% set x = ' ' * 30000000 %}{% for i in range(100000) %}{% if x.strip() %}{% endif %}{% endfor %}",
       StatusCode::kTextTooLong, "steps"},
      {"{{ 'aaaa'.replace('a', 'b' * 100000000) }}", StatusCode::kTextTooLong, ""},
      {"{% set s = ' ' * 1000000 %}{{ ([1] * 1000) | tojson(indent=s) }}", StatusCode::kTextTooLong, "bytes"},
  };
  for (const Refused& one : cases) {
    const auto result = rendered(one.source);
    ASSERT_FALSE(result.ok()) << one.source;
    EXPECT_EQ(result.status().code(), one.code) << one.source << ": " << result.status().to_string();
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(one.words));
  }
  EXPECT_FALSE(rendered("{{ " + std::string(5000, '(')).ok());
  EXPECT_FALSE(rendered("{{ " + std::string(5000, '-') + "1 }}").ok());
  std::string nested;
  for (int i = 0; i < 5000; ++i)
    nested += "{% if 1 %}";
  EXPECT_FALSE(rendered(nested).ok());
  std::string chained = "{{ 1";
  for (int i = 0; i < 5000; ++i)
    chained += " + 1";
  EXPECT_FALSE(rendered(chained + " }}").ok());
  EXPECT_FALSE(rendered("12345", {}, {.source_bytes = 4}).ok());
}

// Each of these would take minutes, or gigabytes of memory, if the steps were counted only by the size of the result.
TEST(TemplateTest, CountsTheStepsOfSlowOperationsBeforeTheyRun) {
  constexpr std::string_view kTexts =
      "{% set s = 'a' * 3000000 %}{% set p = ('a' * 1500000) ~ 'b' %}{% set q = ('b' * 1500000) ~ 'a' %}";
  constexpr std::string_view kSearches[] = {
      "p in s",          "p not in s",       "s.count(p)",  "s.split(p)",  "s.rsplit(p)", "s.partition(p)",
      "s.rpartition(p)", "s.replace(p, '')", "s.find(p)",   "s.rfind(p)",  "s.index(p)",  "s | replace(p, '')",
      "s.strip(q)",      "s.lstrip(q)",      "s.rstrip(q)", "s | trim(q)",
  };
  for (const std::string_view search : kSearches) {
    const auto result = rendered(std::string(kTexts) + "{{ " + std::string(search) + " }}");
    ASSERT_FALSE(result.ok()) << search;
    EXPECT_EQ(result.status().code(), StatusCode::kTextTooLong) << search << ": " << result.status().to_string();
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("steps")) << search;
  }
  constexpr std::string_view kSources[] = {
      "{% set s = 'a' * 30000000 %}{% set d = {s: 1} %}{% for i in range(20000) %}{{ d[s] }}{% endfor %}",
      "{% set s = 'a' * 30000000 %}{% set d = {s: 1} %}{% for i in range(20000) %}{{ d.get(s) }}{% endfor %}",
      "{% set s = 'a' * 30000000 %}{% for i in range(20000) %}{{ loop.changed(s) }}{% endfor %}",
      "{% set s = 'a' * 60000000 %}{% for i in range(1000) %}{{ s is lower }}{% endfor %}",
      "{% set s = 'a' * 60000000 %}{{ s | title | length }}",
      "{% set s = 'a' * 60000000 %}{{ s | lower | length }}",
      "{% set s = 'a' * 60000000 %}{{ s.upper() | length }}",
      "{% set s = 'a' * 60000000 %}{{ [s] | sort | length }}",
      "{% set s = 'a' * 60000000 %}{{ s | list | length }}",
      "{% set s = 'a' * 60000000 %}{% for c in s %}{% endfor %}",
      "{% set s = 'a' * 60000000 %}{{ s[::-1] | length }}",
      "{% set s = 'a' * 60000000 %}{{ s.split('a') | length }}",
      "{% set s = '\\n' * 60000000 %}{{ s.splitlines() | length }}",
      // Two dictionaries with the same keys in opposite orders.
      "{{ many == reversed }}",
      "{{ many != reversed }}",
      "{{ reversed in [many] }}",
      "{{ [many] == [reversed] }}",
      "{{ [many] < [reversed] }}",
      "{{ [many].index(reversed) }}",
      "{{ [many].count(reversed) }}",
      "{% for i in range(2) %}{{ loop.changed(many if i else reversed) }}{% endfor %}",
  };
  Members members;
  for (int i = 0; i < 100'000; ++i)
    members.emplace_back(Value::integer(i), Value::none());
  Members backwards(members.rbegin(), members.rend());
  const Variables dictionaries = {{"many", Value::dictionary(members)},
                                  {"reversed", Value::dictionary(std::move(backwards))}};
  for (const std::string_view source : kSources) {
    const auto result = rendered(source, dictionaries);
    ASSERT_FALSE(result.ok()) << source;
    EXPECT_EQ(result.status().code(), StatusCode::kTextTooLong) << source << ": " << result.status().to_string();
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("steps")) << source;
  }
  // Searches of a usual size are not refused.
  const auto usual = rendered(
      "{% set s = 'abc ' * 100000 ~ '</think>' %}{{ '</think>' in s }} {{ s.split('</think>') | length }} "
      "{{ s.strip(' \\n') | length }} {{ s.count('abc') }} {{ 'aéz'[1] }}{{ 'aéz'[-1] }}");
  ASSERT_TRUE(usual.ok()) << usual.status().to_string();
  EXPECT_EQ(*usual, "True 2 400008 100000 éz");
  const auto equal = rendered(
      "{{ many == same }} {{ many != same }} {{ {'a': 1, 2: [{}]} == {2.0: [{}], 'a': true} }} {{ {'a': 1} == {'b': 1} "
      "}} "
      "{{ {'a': 1} == {'a': 2} }} {{ {} == {} }} {{ {} == [] }} {{ {'a': {}} == {'a': {}, 'b': 1} }}",
      {dictionaries[0], {"same", Value::dictionary(std::move(members))}});
  ASSERT_TRUE(equal.ok()) << equal.status().to_string();
  EXPECT_EQ(*equal, "True False True False False True False False");
}

TEST(TemplateTest, HasNoDateWithoutAClock) {
  const auto parsed = Template::parse("{{ strftime_now is defined }}");
  ASSERT_TRUE(parsed.ok());
  const auto text = parsed->render({});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "False");
}

}  // namespace
}  // namespace latebind::templates
