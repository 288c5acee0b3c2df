// The grammar of the command line, and what help is made of it.
#include "cli/terminal/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/help.h"

namespace latebind::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    program_.require_subcommand();
    program_.add_flag("-v,--verbose", verbose_, "Says more.");
    Command& embed = *program_.add_subcommand("embed", "Embeds.");
    embed.add_option("MODEL,-m,--model", model_, "The model.")->required();
    embed.add_option("--query", query_, "What to look for. It has a story (default: none).");
    embed.add_option("-k", k_, "How many.")->type_name("N");
    embed.add_option("--device", device_, "Devices.");
    embed.add_option("--list", list_, "A list.")->repeats(Repeat::kJoined);
    embed.add_flag("--strict", strict_, "No fallback.")->negatable();
    embed.add_flag("-q,--quiet", quiet_, "Says less.");
    embed.add_option("FILE", files_, "Files.");
    embed.callback([this] { chosen_ = "embed"; });
    Command& serve = *program_.add_subcommand("serve", "Serves.");
    serve.add_option("MODEL,-m,--model", files_, "Models.");
    serve.callback([this] { chosen_ = "serve"; });
    Command& models = *program_.add_subcommand("models", "Lists models.");
    models.callback([this] { chosen_ = "models"; });
    models.add_subcommand("rm", "Removes one.")->callback([this] { chosen_ = "models rm"; });
  }

  ReadLine read(Words words) { return read_line(program_, words); }
  std::string mistake(Words words) {
    const ReadLine line = read(std::move(words));
    EXPECT_EQ(line.request, ReadLine::Request::kMistake);
    EXPECT_THAT(chosen_, IsEmpty());
    return std::string(line.mistake.message());
  }

  Command program_{"latebind", "Embeds texts."};
  std::string chosen_, model_, k_, device_, list_;
  std::optional<std::string> query_;
  std::vector<std::string> files_;
  bool verbose_ = false, strict_ = true, quiet_ = false;
};

TEST_F(CommandLineTest, TakesTheFirstArgumentForTheModelAndTheOthersForFiles) {
  EXPECT_EQ(read({"embed", "mini", "a.txt", "--query", "x", "b.txt"}).request, ReadLine::Request::kRun);
  EXPECT_EQ(chosen_, "embed");
  EXPECT_EQ(model_, "mini");
  EXPECT_EQ(query_, "x");
  EXPECT_THAT(files_, ElementsAre("a.txt", "b.txt"));
}

TEST_F(CommandLineTest, TakesEveryArgumentForAFileWhereTheModelIsGivenByName) {
  for (const Words& by_name : {Words{"--model", "mini"}, Words{"--model=mini"}, Words{"-m", "mini"}, Words{"-mmini"}}) {
    files_.clear();
    Words words{"embed", "a.txt", "b.txt"};
    words.insert(words.end(), by_name.begin(), by_name.end());
    EXPECT_EQ(read(words).request, ReadLine::Request::kRun);
    EXPECT_EQ(model_, "mini");
    EXPECT_THAT(files_, ElementsAre("a.txt", "b.txt"));
  }
}

TEST_F(CommandLineTest, TakesTheModelFromItsVariableWhereTheArgumentsDoNotSuffice) {
  std::optional<std::string> set;
  Command program("latebind", "Embeds texts.");
  Command& search = *program.add_subcommand("search", "Searches.");
  const auto read_variable = [&set]() -> core::Result<std::optional<std::string>> {
    if (set == "bad") return core::Status(core::StatusCode::kInvalidArgument, "names several models");
    return set;
  };
  search.add_option("MODEL,-m,--model", model_, "The model.")->required()->variable("A_MODEL", read_variable);
  search.add_option("FILE", files_, "Files.")->required();
  const auto read_words = [&](Words words) {
    model_.clear();
    files_.clear();
    return read_line(program, words);
  };

  EXPECT_THAT(std::string(read_words({"search"}).mistake.message()),
              HasSubstr("MODEL (or --model, or A_MODEL) is required"));
  set = "mini";
  EXPECT_EQ(read_words({"search", "a.txt"}).request, ReadLine::Request::kRun);
  EXPECT_EQ(model_, "mini");
  EXPECT_THAT(files_, ElementsAre("a.txt"));
  // The line comes before the variable.
  EXPECT_EQ(read_words({"search", "other", "a.txt"}).request, ReadLine::Request::kRun);
  EXPECT_EQ(model_, "other");
  EXPECT_EQ(read_words({"search", "a.txt", "-m", "other"}).request, ReadLine::Request::kRun);
  EXPECT_EQ(model_, "other");
  EXPECT_THAT(std::string(read_words({"search"}).mistake.message()), HasSubstr("FILE is required"));
  set = "bad";
  EXPECT_THAT(std::string(read_words({"search", "a.txt"}).mistake.message()),
              HasSubstr("A_MODEL: names several models"));
}

TEST_F(CommandLineTest, JoinsBothListsInTheOrderOfTheLine) {
  EXPECT_EQ(read({"serve", "one", "--model", "two", "three", "-m", "four"}).request, ReadLine::Request::kRun);
  EXPECT_THAT(files_, ElementsAre("one", "two", "three", "four"));
}

TEST_F(CommandLineTest, WhatIsGivenTakesThePlaceOfTheDefault) {
  files_ = {"auto"};
  EXPECT_EQ(read({"embed", "mini"}).request, ReadLine::Request::kRun);
  EXPECT_THAT(files_, ElementsAre("auto"));
  EXPECT_EQ(read({"embed", "mini", "a", "b"}).request, ReadLine::Request::kRun);
  EXPECT_THAT(files_, ElementsAre("a", "b"));
}

TEST_F(CommandLineTest, ReadsFlagsAndTheirLetters) {
  EXPECT_EQ(read({"embed", "mini", "-qk3", "--no-strict"}).request, ReadLine::Request::kRun);
  EXPECT_TRUE(quiet_);
  EXPECT_FALSE(strict_);
  EXPECT_EQ(k_, "3");
  EXPECT_EQ(read({"embed", "mini", "--strict=yes", "-v"}).request, ReadLine::Request::kRun);
  EXPECT_TRUE(strict_);
  EXPECT_TRUE(verbose_);
}

TEST_F(CommandLineTest, ReadsNumbersBelowZeroAHyphenAndWhatFollowsTwo) {
  EXPECT_EQ(read({"embed", "-k", "-1", "mini", "-", "--", "--query", "-x"}).request, ReadLine::Request::kRun);
  EXPECT_EQ(k_, "-1");
  EXPECT_THAT(files_, ElementsAre("-", "--query", "-x"));
  EXPECT_EQ(query_, std::nullopt);
}

TEST_F(CommandLineTest, JoinsListsThatComeOneByOne) {
  EXPECT_EQ(read({"embed", "mini", "--list", "a", "--list=b,c"}).request, ReadLine::Request::kRun);
  EXPECT_EQ(list_, "a,b,c");
}

TEST_F(CommandLineTest, NamesAnUnknownOptionAndTheNearestOne) {
  EXPECT_THAT(mistake({"embed", "--model", "m", "--query", "x", "a.txt", "--top-k", "3"}),
              AllOf(HasSubstr("'--top-k'"), HasSubstr("did you mean -k?")));
  EXPECT_THAT(mistake({"embed", "--modell", "m"}), AllOf(HasSubstr("'--modell'"), HasSubstr("did you mean --model?")));
  EXPECT_THAT(mistake({"embed", "-model", "m"}), AllOf(HasSubstr("'-model'"), HasSubstr("did you mean --model?")));
  EXPECT_THAT(mistake({"embed", "m", "--no-stict"}), HasSubstr("did you mean --no-strict?"));
  EXPECT_THAT(mistake({"embed", "m", "-z"}), testing::EndsWith("unknown option '-z'"));
}

TEST_F(CommandLineTest, SaysWhatIsMissingAndWhereTheOnlyArgumentWent) {
  EXPECT_THAT(mistake({"embed"}), HasSubstr("MODEL (or --model) is required"));
  EXPECT_THAT(mistake({"embed", "m", "--query"}), HasSubstr("--query needs a value"));
  EXPECT_THAT(mistake({"embed", "m", "--query", "--quiet"}),
              AllOf(HasSubstr("--quiet follows"), HasSubstr("--query=--quiet")));
  EXPECT_THAT(mistake({"embed", "m", "--device", "a", "--device", "b"}), HasSubstr("--device is given 2 times"));
  EXPECT_THAT(mistake({"models", "rn"}), HasSubstr("unknown command 'rn' (did you mean rm?)"));
  EXPECT_THAT(mistake({}), HasSubstr("no command is given; known: embed, serve, models"));
}

TEST_F(CommandLineTest, ChoosesTheInnermostCommand) {
  EXPECT_EQ(read({"models"}).command->full_name(), "latebind models");
  EXPECT_EQ(chosen_, "models");
  EXPECT_EQ(read({"models", "rm"}).command->full_name(), "latebind models rm");
  EXPECT_EQ(chosen_, "models rm");
}

TEST_F(CommandLineTest, HelpWinsOverMistakesAndTheLongOneOverTheShortOne) {
  EXPECT_EQ(read({"embed", "--wrong", "-h"}).request, ReadLine::Request::kShortHelp);
  EXPECT_EQ(read({"embed", "--help", "-h", "--version"}).request, ReadLine::Request::kFullHelp);
  EXPECT_EQ(read({"--version"}).request, ReadLine::Request::kVersion);
  EXPECT_EQ(read({"-V"}).request, ReadLine::Request::kVersion);
  EXPECT_EQ(read({"embed", "-qV"}).request, ReadLine::Request::kVersion);
  EXPECT_THAT(chosen_, IsEmpty());
}

TEST_F(CommandLineTest, UsageShowsArgumentsAndWhatIsRequired) {
  EXPECT_EQ(usage(*program_.find_subcommand("embed")), "latebind embed MODEL [FILE...] [OPTIONS]");
  EXPECT_EQ(usage(program_), "latebind COMMAND ...");
}

TEST_F(CommandLineTest, TheFirstSentenceKeepsTheDefault) {
  EXPECT_EQ(first_sentence("What to look for. It has a story (default: none)."), "What to look for (default: none).");
  EXPECT_EQ(first_sentence("One sentence."), "One sentence.");
}

}  // namespace
}  // namespace latebind::cli
