// What shells offer, and the manual pages.
#include "cli/terminal/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/terminal/manual.h"

namespace latebind::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CompletionTest : public testing::Test {
 protected:
  CompletionTest() {
    program_.add_flag("-v,--verbose", flag_, "Says more.");
    Command& embed = *program_.add_subcommand("embed", "Embeds.");
    embed.add_option("MODEL,-m,--model", text_, "The model.");
    embed.add_option("--format", text_, "How. A story.")->words({"jsonl", "npy"});
    embed.add_option("-o,--output", text_, "Where.");
    embed.add_option("--device", text_, "Devices.")->words({"npu", "cpu", "native"}, /*is_list=*/true);
    embed.add_flag("--strict", flag_, "No fallback.")->negatable();
    embed.footer("About it.\n\nExample:\n  latebind embed 'x' -o .y");
    program_.add_subcommand("emit", "Emits.");
    program_.add_subcommand("secret", "Hidden.")->hide();
  }

  std::vector<std::string> offered(std::vector<std::string> words) {
    std::vector<std::string> found;
    for (const Candidate& candidate : candidates(program_, words))
      found.push_back(candidate.word);
    return found;
  }

  Command program_{"latebind", "Embeds texts."};
  std::string text_;
  bool flag_ = false;
};

TEST_F(CompletionTest, OffersCommandsOptionsAndWords) {
  EXPECT_THAT(offered({""}), ElementsAre("embed", "emit"));
  EXPECT_THAT(offered({"emb"}), ElementsAre("embed"));
  EXPECT_THAT(offered({"embed", "--"}),
              ElementsAre("--model", "--format", "--output", "--device", "--strict", "--verbose"));
  EXPECT_THAT(offered({"embed", "--no-"}), ElementsAre("--no-strict"));
  EXPECT_THAT(offered({"embed", "--format", ""}), ElementsAre("jsonl", "npy"));
  EXPECT_THAT(offered({"embed", "--format=n"}), ElementsAre("--format=npy"));
  // As bash has it.
  EXPECT_THAT(offered({"embed", "--format", "=", "n"}), ElementsAre("npy"));
  EXPECT_THAT(offered({"embed", "--format", "="}), ElementsAre("jsonl", "npy"));
}

TEST_F(CompletionTest, OffersTheItemsOfAListThatAreNotInItYet) {
  EXPECT_THAT(offered({"embed", "--device", ""}), ElementsAre("npu", "cpu", "native"));
  EXPECT_THAT(offered({"embed", "--device", "npu,"}), ElementsAre("npu,cpu", "npu,native"));
  EXPECT_THAT(offered({"embed", "--device", "npu,cpu,n"}), ElementsAre("npu,cpu,native"));
  EXPECT_THAT(offered({"embed", "--device=npu,n"}), ElementsAre("--device=npu,native"));
}

TEST_F(CompletionTest, OffersNothingWhereAFileIsExpected) {
  EXPECT_THAT(offered({"embed", ""}), IsEmpty());
  EXPECT_THAT(offered({"embed", "-o", "e"}), IsEmpty());
  EXPECT_THAT(offered({"embed", "--", "--"}), IsEmpty());
  EXPECT_THAT(offered({}), IsEmpty());
}

TEST_F(CompletionTest, AManualPageHasEveryOptionAndNoRequestByChance) {
  const std::string page = manual_page(*program_.subcommands().front());
  EXPECT_THAT(page, AllOf(HasSubstr(".TH latebind\\-embed 1"), HasSubstr("\\fB\\-o, \\-\\-output TEXT\\fR\nWhere.\n"),
                          HasSubstr("How. A story."), HasSubstr(".nf\n  latebind embed 'x' \\-o .y\n.fi\n")));
  EXPECT_EQ(manual_name(*program_.subcommands().front()), "latebind-embed");
  EXPECT_THAT(manual_page(program_), AllOf(HasSubstr("emit"), Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace latebind::cli
