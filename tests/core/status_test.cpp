#include "core/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "core/result.h"

namespace latebind::core {
namespace {

TEST(StatusTest, AnErrorCannotHoldOk) {
  const Status status(StatusCode::kOk, "all is well");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kInternal);
}

TEST(StatusTest, KeepsTheVendorsCodeAndTextWordForWord) {
  const Status status = Status::from_vendor(StatusCode::kDeviceFailed, "compiling m on CPU failed", -7, "why\nnot");
  EXPECT_EQ(status.vendor_code(), -7);
  EXPECT_EQ(status.vendor_text(), "why\nnot");
  EXPECT_EQ(status.message(), "compiling m on CPU failed");
  EXPECT_EQ(status.to_string(), "compiling m on CPU failed (vendor code -7: why not)") << "one line";
}

TEST(StatusTest, WhatIsCaughtBecomesAnErrorWithItsWords) {
  const auto of = [](const auto& thrown) {
    try {
      throw thrown;
    } catch (...) {
      return Status::of_exception();
    }
  };
  EXPECT_EQ(of(std::bad_alloc()).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(of(std::bad_alloc()).to_string(), "out of memory");
  EXPECT_EQ(of(std::runtime_error("no")).to_string(), "unexpected: no");
  EXPECT_EQ(of(7).code(), StatusCode::kInternal);
  EXPECT_EQ(Status::out_of_memory().with_context("loading").to_string(), "loading: out of memory");
}

TEST(StatusTest, KnowsVendorsWordsForALackOfMemory) {
  EXPECT_TRUE(reports_out_of_memory("Exception from plugin.cpp:42: std::bad_alloc"));
  EXPECT_TRUE(reports_out_of_memory("at cpu_memory.cpp:257:\nFailed to allocate 640000000000 bytes of memory\n\n"));
  EXPECT_TRUE(reports_out_of_memory("BFCArena: Failed to allocate memory for requested buffer of size 640000000000"));
  EXPECT_FALSE(reports_out_of_memory("Failed to allocate a queue\nthe memory is fine"));
  EXPECT_FALSE(reports_out_of_memory("the memory is fine"));
}

TEST(StatusTest, ContextGoesInFrontAndKeepsTheRest) {
  const Status status = Status::from_vendor(StatusCode::kIo, "no", 3, "t").with_context("model.xml");
  EXPECT_EQ(status.message(), "model.xml: no");
  EXPECT_EQ(status.vendor_code(), 3);
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_TRUE(Status().with_context("x").ok());
}

TEST(StatusTest, DetailsAreForThoseWhoAsk) {
  const Status status = Status::from_vendor(StatusCode::kDeviceFailed, "no", -7, "why\nnot")
                            .with_details("here: nothing\nthere: nothing");
  EXPECT_EQ(status.to_string(), "no (vendor code -7: why not)");
  EXPECT_EQ(status.details(), "here: nothing\nthere: nothing");
  EXPECT_EQ(status.with_context("model.xml").details(), status.details());
  EXPECT_EQ(Status().details(), "");
  EXPECT_EQ(Status(StatusCode::kIo, "no").details(), "");
  EXPECT_TRUE(Status().with_details("x").ok());
}

TEST(StatusTest, BriefIsOneShortLine) {
  const Status status =
      Status::from_vendor(StatusCode::kDeviceFailed, "no", -7, "why\nnot").with_details("tried here and there");
  EXPECT_EQ(status.brief(), "no: why not");
  const std::string long_text(Status::kBriefMax - 1, 'x');
  // The cut would fall into the middle of the character.
  EXPECT_EQ(Status(StatusCode::kIo, long_text + "\xC3\xA9!").brief(), long_text + " …");
  EXPECT_EQ(Status().brief(), "ok");
}

TEST(StatusTest, CodesFallIntoBandsThatTellWhetherToRetry) {
  EXPECT_EQ(band_of(StatusCode::kInvalidArgument), StatusBand::kCaller);
  EXPECT_EQ(band_of(StatusCode::kNoDevice), StatusBand::kEnvironment);
  EXPECT_EQ(band_of(StatusCode::kBusy), StatusBand::kResource);
  EXPECT_EQ(band_of(StatusCode::kInternal), StatusBand::kInternal);
  EXPECT_TRUE(is_retryable(StatusCode::kBusy));
  EXPECT_FALSE(is_retryable(StatusCode::kLibraryNotFound));
  EXPECT_FALSE(is_retryable(StatusCode::kInvalidModel));
}

TEST(ResultTest, MadeFromAnOkStatusIsAnInternalError) {
  const Result<int> result{Status()};
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInternal);
}

Result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) return Status(StatusCode::kInvalidArgument, "odd");
  return std::make_unique<int>(value / 2);
}

Result<int> quarter(int value) {
  LB_ASSIGN_OR_RETURN(const auto first, half(value));
  LB_ASSIGN_OR_RETURN(const auto second, half(*first));
  return *second;
}

TEST(ResultTest, AssignOrReturnMovesTheValueOrLeavesWithTheError) {
  ASSERT_TRUE(quarter(8).ok());
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().message(), "odd");
}

TEST(StatusTest, CopiesShareOneErrorWhicheverOfThemEndsFirst) {
  auto first = std::make_unique<Status>(StatusCode::kIo, "the disk is on fire, and the message has its own memory");
  Status second = *first;
  EXPECT_EQ(second.message().data(), first->message().data());
  first.reset();
  EXPECT_EQ(second.message(), "the disk is on fire, and the message has its own memory");
  Status third;
  third = second;
  second = Status();
  EXPECT_TRUE(second.ok());
  EXPECT_EQ(third.code(), StatusCode::kIo);
  const Status fourth = std::move(third);
  EXPECT_TRUE(third.ok());  // NOLINT(bugprone-use-after-move): what it is afterwards is the question
  EXPECT_EQ(fourth.code(), StatusCode::kIo);
}

TEST(StatusTest, ALackOfMemoryIsReportedAsOftenAsThereIsOne) {
  for (int i = 0; i < 3; ++i) {
    const Status status = Status::out_of_memory();
    EXPECT_EQ(Status(status).message(), "out of memory");
  }
}

// Counts how many there are.
class CountedValue {
 public:
  explicit CountedValue(int& alive) : alive_(&alive) { ++*alive_; }
  CountedValue(const CountedValue& other) : alive_(other.alive_) { ++*alive_; }
  CountedValue(CountedValue&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  CountedValue& operator=(const CountedValue&) = delete;
  CountedValue& operator=(CountedValue&&) = delete;
  ~CountedValue() { --*alive_; }

 private:
  int* alive_;
};

TEST(ResultTest, AssignedAValueOrAnErrorItHasThatAndNothingElse) {
  int alive = 0;
  const Status error(StatusCode::kNotFound, "nothing there");
  Result<CountedValue> result = error;
  Result<CountedValue> other = CountedValue(alive);
  EXPECT_EQ(alive, 1);
  result = other;
  EXPECT_TRUE(result.ok() && result.status().ok());
  EXPECT_EQ(alive, 2);
  result = error;
  EXPECT_EQ(result.status().message(), "nothing there");
  EXPECT_EQ(alive, 1);
  other = std::move(result);
  EXPECT_EQ(other.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(alive, 0);
  other = CountedValue(alive);
  other = CountedValue(alive);
  EXPECT_EQ(alive, 1);
  {
    const Result<CountedValue> copy = other;
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 1);
}

TEST(ResultTest, AssignedToItselfItStaysAsItIs) {
  Result<std::string> result = std::string("a text that is too long to need no memory of its own");
  const Result<std::string>& same = result;
  result = same;
  EXPECT_EQ(*result, "a text that is too long to need no memory of its own");
}

TEST(ResultTest, CanBeCopiedAsItsValueCan) {
  EXPECT_TRUE(std::is_copy_constructible_v<Result<std::string>>);
  EXPECT_FALSE(std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  EXPECT_FALSE(std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
  EXPECT_TRUE(std::is_nothrow_move_constructible_v<Result<std::unique_ptr<int>>>);
}

}  // namespace
}  // namespace latebind::core
