// Names on the hub: what is one, and what never becomes a path or a part of an address.
#include "embedding/hub/name.h"

#include <gtest/gtest.h>

namespace latebind::embedding::hub {
namespace {

TEST(ModelNameTest, HasARevisionThatIsMainUnlessGiven) {
  const auto plain = ModelName::parse("sentence-transformers/all-MiniLM-L6-v2");
  ASSERT_TRUE(plain.ok()) << plain.status().to_string();
  EXPECT_EQ(plain->id, "sentence-transformers/all-MiniLM-L6-v2");
  EXPECT_EQ(plain->revision, "main");
  EXPECT_EQ(plain->text(), plain->id);
  const auto tagged = ModelName::parse("org/name@refs/pr/1");
  ASSERT_TRUE(tagged.ok()) << tagged.status().to_string();
  EXPECT_EQ(tagged->id, "org/name");
  EXPECT_EQ(tagged->revision, "refs/pr/1");
  EXPECT_EQ(tagged->text(), "org/name@refs/pr/1");
}

TEST(ModelNameTest, FollowsTheHubsRules) {
  for (const char* good : {"a/b", "A_1/b.c-d", "org/name@v1.0", "org/name@0123456789abcdef", "0/1", "_a/b_"}) {
    EXPECT_TRUE(is_model_name(good)) << good;
  }
  for (const char* bad : {"",       "/",      "a.onnx",     "a/",      "/b",      "a/b/c",   "./b",    "../b",
                          "a/..",   "a--b/c", "a/b--c",     "a/b..c",  "-a/b",    "a-/b",    ".a/b",   "a/b.git",
                          "a b/c",  "a/b\n",  "\xC3\xA9/b", "a\\b/c",  "a/b@",    "a/b@-x",  "a/b@..", "a/b@x/../y",
                          "a/b@/x", "a/b@x/", "a/b@x.lock", "a/b@x y", "a/b@x?y", "a/b@x@y", "~/b",    "c:/b"}) {
    EXPECT_FALSE(is_model_name(bad)) << bad;
  }
  EXPECT_TRUE(is_model_name(std::string(96, 'a') + "/b"));
  EXPECT_FALSE(is_model_name(std::string(97, 'a') + "/b"));
  EXPECT_FALSE(is_model_name("a/b@" + std::string(201, 'a')));
}

TEST(ModelNameTest, IsCompletedAsSentenceTransformersDoes) {
  const auto id_of = [](std::string_view text, std::string_view owner = kShortNameOwner) {
    const auto name = ModelName::parse(text, owner);
    return name.ok() ? name->text() : std::string();
  };
  EXPECT_EQ(id_of("all-MiniLM-L6-v2"), "sentence-transformers/all-MiniLM-L6-v2");
  EXPECT_EQ(id_of("all-MiniLM-L6-v2@v1"), "sentence-transformers/all-MiniLM-L6-v2@v1");
  EXPECT_EQ(id_of("average_word_embeddings_glove.6B.300d"),
            "sentence-transformers/average_word_embeddings_glove.6B.300d");
  EXPECT_EQ(id_of("ms-marco-MiniLM-L6-v2", "cross-encoder"), "cross-encoder/ms-marco-MiniLM-L6-v2");
  EXPECT_EQ(id_of("colbertv2.0", ""), "");
  EXPECT_EQ(id_of("bert-base-uncased"), "bert-base-uncased");
  EXPECT_EQ(id_of("xlm-roberta-large@main", ""), "xlm-roberta-large");
  EXPECT_EQ(id_of("bert-base-nli-mean-tokens"), "sentence-transformers/bert-base-nli-mean-tokens");
  for (const char* file :
       {"model.onnx", "model.xml", "model.gguf", "minilm.lbundle", "model.safetensors", "a.json", "MODEL.GGUF"}) {
    EXPECT_EQ(id_of(file), "") << file;
    EXPECT_FALSE(is_model_name("org/" + std::string(file))) << file;
  }
  EXPECT_EQ(id_of("org/model.onnx"), "org/model.onnx");
}

TEST(FileNameTest, StaysBelowItsFolderOnEverySystem) {
  for (const char* good : {"a", "a/b.json", "onnx/model.onnx_data", "1_Pooling/config.json", "a b"}) {
    EXPECT_TRUE(is_file_name(good)) << good;
  }
  for (const char* bad : {"",    "/a", "a/",   "a//b", ".",    "..",   "../a", "a/../b", "a/./b", ".hidden", "a\\b",
                          "c:a", "a.", "a /b", "a\nb", "a/..", "nul:", "a*",   "a?b",    "a|b",   "\"a\""}) {
    EXPECT_FALSE(is_file_name(bad)) << bad;
  }
  EXPECT_FALSE(is_file_name(std::string_view("a\0b", 3)));
  EXPECT_FALSE(is_file_name(std::string(401, 'a')));
}

TEST(CommitTest, IsHexadecimalDigitsOfTheRightNumber) {
  EXPECT_TRUE(is_commit(std::string(40, 'a')));
  EXPECT_TRUE(is_commit(std::string(64, '0')));
  EXPECT_FALSE(is_commit(std::string(39, 'a')));
  EXPECT_FALSE(is_commit(std::string(40, 'A')));
  EXPECT_FALSE(is_commit(std::string(40, 'g')));
  EXPECT_FALSE(is_commit("main"));
}

TEST(BlobNameTest, IsNoPath) {
  EXPECT_TRUE(is_blob_name("0a1b"));
  EXPECT_TRUE(is_blob_name("d41d8cd98f-12"));
  for (const char* bad : {"", ".", "..", "a/b", "a\\b", ".a", "a.", "a b", "\"a\""}) {
    EXPECT_FALSE(is_blob_name(bad)) << bad;
  }
  EXPECT_FALSE(is_blob_name(std::string(129, 'a')));
}

TEST(PercentTest, EncodesWhatHasAMeaning) {
  EXPECT_EQ(percent_encoded("refs/pr/1"), "refs%2Fpr%2F1");
  EXPECT_EQ(percent_encoded("a-b_c.d~"), "a-b_c.d~");
  EXPECT_EQ(percent_encoded("a b?#%\xC3\xA9"), "a%20b%3F%23%25%C3%A9");
}

}  // namespace
}  // namespace latebind::embedding::hub
