#include "embedding/folder/licence.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace latebind::embedding {
namespace {

Licence licence_named(const std::string& name) {
  return licence_of_card("---\nlanguage:\n- en\nlicense: " + name + "\r\ntags: [x]\n---\nlicense: mit\n");
}

TEST(LicenceTest, IsWhatTheFrontMatterOfTheCardNames) {
  EXPECT_EQ(licence_named("apache-2.0").name, "apache-2.0");
  EXPECT_EQ(licence_named("\"mit\"").name, "mit");
  EXPECT_EQ(licence_of_card("---\nlicense: other\nlicense_name: gemma\n---\n").name, "gemma");
  EXPECT_EQ(licence_of_card("---\nlicense_name: gemma\nlicense: other\n---\n").text(), "gemma");
  for (const char* card : {"", "license: mit\n", "---\n---\nlicense: mit\n", "---\nlicense:\n---\n",
                           "# A model\n---\nlicense: mit\n---\n"}) {
    EXPECT_EQ(licence_of_card(card).name, "") << card;
    EXPECT_TRUE(licence_of_card(card).describe().is_null());
  }
}

TEST(LicenceTest, ThoseThatForbidCommerceAreKnownByAWordOfTheirNames) {
  for (const char* name : {"cc-by-nc-4.0", "CC-BY-NC-SA-4.0", "cc-by-nc-nd-3.0", "fair-noncommercial-research-license",
                           "some-non-commercial", "intel-research"}) {
    EXPECT_TRUE(licence_named(name).forbids_commerce) << name;
  }
  for (const char* name : {"apache-2.0", "mit", "cc-by-4.0", "gemma", "cc-by-sa-4.0", "unlicense", "bsl-1.0", "ncsa"})
    EXPECT_FALSE(licence_named(name).forbids_commerce) << name;
  EXPECT_EQ(licence_named("cc-by-nc-4.0").text(), "cc-by-nc-4.0, which forbids commercial use");
}

}  // namespace
}  // namespace latebind::embedding
