#include "embedding/inputs/chat_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace latebind::embedding {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;

core::Result<std::shared_ptr<const ChatFrame>> frame_of(std::string_view source, bool has_parts = false) {
  auto parsed = templates::Template::parse(source);
  if (!parsed.ok()) return parsed.status();
  return ChatFrame::make({.source = *std::move(parsed), .has_parts = has_parts, .file = "chat_template.jinja"});
}

TEST(ChatFrameTest, MakesMessagesOfBothTextsAndOfTheInstruction) {
  constexpr std::string_view kSource = "{% for m in messages %}{{ m.role }}={{ m.content }};{% endfor %}";
  const auto frame = frame_of(kSource);
  ASSERT_TRUE(frame.ok()) << frame.status().to_string();
  EXPECT_EQ(*(*frame)->render("what?", "that", ""), "query=what?;document=that;");
  EXPECT_EQ(*(*frame)->render("{{ x }}", "", "do"), "system=do;query={{ x }};document=;");
}

TEST(ChatFrameTest, MakesListsOfPartsIfTheTemplateWantsThem) {
  const auto frame =
      frame_of("{% for m in messages %}{{ m.content[0].type }}:{{ m.content[0].text }};{% endfor %}", true);
  ASSERT_TRUE(frame.ok()) << frame.status().to_string();
  EXPECT_EQ(*(*frame)->render("q", "d", "s"), "text:s;text:q;text:d;");
}

TEST(ChatFrameTest, RefusesATemplateThatDropsAText) {
  struct Case {
    std::string_view source;
    std::string_view why;
  };
  const Case cases[] = {
      {"{{ messages[-1].content }}", "the message with the role 'query' is not in its text"},
      {"{{ messages[0].content }}", "the message with the role 'document' is not in its text"},
      {"{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}", "'query'"},
      {"{% if messages[0].role != 'user' %}{{ raise_exception('only users') }}{% endif %}", "only users"},
  };
  for (const Case& one : cases) {
    const auto frame = frame_of(one.source);
    ASSERT_FALSE(frame.ok()) << one.source;
    EXPECT_EQ(frame.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(std::string(frame.status().message()), HasSubstr(one.why));
    EXPECT_THAT(std::string(frame.status().message()), HasSubstr("chat_template.jinja"));
  }
}

}  // namespace
}  // namespace latebind::embedding
