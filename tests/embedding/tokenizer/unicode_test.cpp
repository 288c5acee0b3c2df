#include "embedding/tokenizer/unicode.h"

#include <gtest/gtest.h>

#include <vector>

namespace latebind::embedding::unicode {
namespace {

std::vector<char32_t> list(const Sequence& sequence) {
  return {sequence.begin(), sequence.end()};
}

// Every code point is compared with the reference in compare_with_oracle.py; here are the landmarks.
TEST(UnicodeTest, KnowsTheLandmarks) {
  EXPECT_EQ(properties('a'), kWordCharacter | kLetter);
  EXPECT_EQ(properties('7'), kWordCharacter | kNumber);
  EXPECT_EQ(properties(0xBD), kNumber);  // one half is no digit
  EXPECT_EQ(properties('_'), kWordCharacter | kPunctuation);
  EXPECT_EQ(properties('$'), kPunctuation);  // a symbol, punctuation because it is ASCII
  EXPECT_EQ(properties(0x20AC), 0);          // the euro sign is not
  EXPECT_EQ(properties(0xA0), kWhitespace);
  EXPECT_EQ(properties(0x85), kWhitespace | kOther);
  EXPECT_EQ(properties(0x200D), kOther | kWordCharacter);
  EXPECT_EQ(properties(0x301), kNonspacing | kMark | kWordCharacter);
  EXPECT_EQ(properties(0x903), kMark | kWordCharacter);
  EXPECT_EQ(properties(0x3002), kPunctuation);
  EXPECT_EQ(properties(0xE000), kOther);  // private use
  EXPECT_EQ(properties(0x378), 0);        // not assigned
}

TEST(UnicodeTest, ComposesWhatItDecomposes) {
  EXPECT_EQ(compose('e', 0x301), 0xE9U);
  EXPECT_EQ(compose(0x1100, 0x1161), 0xAC00U);
  EXPECT_EQ(compose(0xAC00, 0x11A8), 0xAC01U);
  EXPECT_EQ(compose(0xAC00, 0x11A7), 0U);
  EXPECT_EQ(compose('x', 0x301), 0U);
  EXPECT_EQ(compose(0x915, 0x93C), 0U);  // excluded from composition
  EXPECT_EQ(compose(0x11935, 0x11930), 0U);
  EXPECT_EQ(decompose_compatibly(0xFB01), (std::vector<char32_t>{'f', 'i'}));
  EXPECT_EQ(decompose_compatibly(0xFDFA).size(), 18U);
  EXPECT_EQ(decompose_compatibly('a'), (std::vector<char32_t>{'a'}));
  EXPECT_TRUE(may_be_composed(0x301));
  EXPECT_FALSE(may_be_composed('e'));
}

TEST(UnicodeTest, FollowsTheReferenceWhereItsUnicodeIsOlder) {
  EXPECT_EQ(decompose_compatibly(0x32FF), (std::vector<char32_t>{0x32FF}));  // since Unicode 12.1
  EXPECT_EQ(properties(0x1DF6) & kNonspacing, 0);                            // a mark since Unicode 10
  EXPECT_EQ(combining_class(0x1DF6), 0);
  EXPECT_EQ(properties(0x2E52) & kPunctuation, 0);                        // punctuation since Unicode 13
  EXPECT_EQ(list(decompose(0x11938)), (std::vector<char32_t>{0x11938}));  // decomposes since Unicode 13
}

TEST(UnicodeTest, FollowsTheReferenceWhereItsUnicodeIsNewer) {
  EXPECT_EQ(list(lower_case(0xA7DC)), (std::vector<char32_t>{0x19B}));     // lower case since Unicode 16
  EXPECT_EQ(list(lower_case(0x10D50)), (std::vector<char32_t>{0x10D70}));  // since Unicode 16
  EXPECT_NE(properties(0x897) & kWordCharacter, 0);                        // since Unicode 16
  EXPECT_EQ(properties(0x10D40), kWordCharacter | kNumber);                // since Unicode 16
  EXPECT_EQ(properties(0x1C89), kWordCharacter | kLetter);                 // since Unicode 16
}

TEST(UnicodeTest, DecomposesFully) {
  EXPECT_EQ(list(decompose(0x1D6)), (std::vector<char32_t>{'u', 0x308, 0x304}));
  EXPECT_EQ(list(decompose(0xAC01)), (std::vector<char32_t>{0x1100, 0x1161, 0x11A8}));
  EXPECT_EQ(list(decompose(0x1F82)), (std::vector<char32_t>{0x3B1, 0x313, 0x300, 0x345}));
  EXPECT_EQ(list(decompose(0xFB01)), (std::vector<char32_t>{0xFB01}));  // compatibility only
  EXPECT_EQ(list(decompose('a')), (std::vector<char32_t>{'a'}));
}

TEST(UnicodeTest, LowersCase) {
  EXPECT_EQ(list(lower_case('A')), (std::vector<char32_t>{'a'}));
  EXPECT_EQ(list(lower_case(0x130)), (std::vector<char32_t>{'i', 0x307}));
  EXPECT_EQ(list(lower_case(0x3A3)), (std::vector<char32_t>{0x3C3}));  // never the final sigma
  EXPECT_EQ(list(lower_case(0x1E9E)), (std::vector<char32_t>{0xDF}));
}

TEST(UnicodeTest, AsksAnyCodePointWithoutHarm) {
  for (char32_t c = 0; c < kCodePointEnd; ++c) {
    ASSERT_GE(decompose(c).size, 1U);
    ASSERT_GE(lower_case(c).size, 1U);
    (void)properties(c);
    (void)combining_class(c);
  }
}

// A run of marks longer than a word may be is cut short on the strength of this.
TEST(UnicodeTest, EveryCombiningCodePointIsPartOfAWord) {
  for (char32_t c = 0; c < kCodePointEnd; ++c) {
    if (combining_class(c) != 0) {
      ASSERT_EQ(properties(c) & (kWhitespace | kPunctuation), 0) << static_cast<unsigned>(c);
    }
  }
}

}  // namespace
}  // namespace latebind::embedding::unicode
