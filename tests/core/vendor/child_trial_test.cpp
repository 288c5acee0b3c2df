// What a child says to its parent, and what is needed to have a child at all.
#include "core/vendor/child_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latebind::core {
namespace {

using testing::HasSubstr;

TEST(ChildTrialTest, ASuccessComesThrough) {
  EXPECT_TRUE(status_from_child(line_for_parent({})).ok());
}

TEST(ChildTrialTest, AReportComesThroughWithASuccessAndWithAnError) {
  const Json sent{{"devices", 2}};
  for (const Status& status : {Status(), Status(StatusCode::kUnsupported, "no")}) {
    Json report;
    EXPECT_EQ(status_from_child(line_for_parent(status, sent), &report).code(), status.code());
    EXPECT_EQ(report, sent);
  }
}

TEST(ChildTrialTest, AnErrorComesThroughWithTheVendorsWords) {
  const auto given = Status::from_vendor(StatusCode::kUnsupported, "it does not \"work\"\n", 17, "\xFFvendor");
  const auto got = status_from_child("noise of a vendor\n" + line_for_parent(given) + "\nmore noise");
  EXPECT_EQ(got.code(), StatusCode::kUnsupported);
  EXPECT_EQ(got.message(), given.message());
  EXPECT_EQ(got.vendor_code(), 17);
  EXPECT_THAT(std::string(got.vendor_text()), HasSubstr("vendor"));
}

TEST(ChildTrialTest, SilenceAndNonsenseAreErrors) {
  for (const char* output : {"", "noise", "latebind-child-says: ", "latebind-child-says: {}",
                             "latebind-child-says: [1]", "x latebind-child-says: {\"code\":0}"}) {
    EXPECT_EQ(status_from_child(output).code(), StatusCode::kInternal) << output;
  }
}

TEST(ChildTrialTest, AProgramThatIsNotThereIsNamed) {
  TrialOptions options;
  options.program = "/nonexistent/latebind";
  const auto program = trial_program(options);
  EXPECT_EQ(program.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(program.status().to_string(), HasSubstr("/nonexistent/latebind"));
}

}  // namespace
}  // namespace latebind::core
