// The embedder of the C interface, on the fake OpenVINO library and the tiny model of the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "latebind/latebind.h"
#include "tests/api/encode.h"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::dimension_of;
using latebind::test::encode_into;
using latebind::test::last_message;
using latebind::test::with_openvino;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr const char* kEncoder = "encoder 32\n";

class EmbedderInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake.script(kEncoder);
    ASSERT_EQ(lb_runtime_create(with_openvino(fake.file()).get(), &runtime), LB_OK);
    const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
    ASSERT_EQ(lb_encoder_open(runtime, folder.c_str(), nullptr, nullptr, nullptr, &embedder), LB_OK) << last_message();
  }
  void TearDown() override {
    lb_encoder_destroy(embedder);
    lb_runtime_destroy(runtime);
  }

  lb_code embed(const std::vector<std::string_view>& words) {
    std::vector<lb_text> texts;
    for (const std::string_view word : words)
      texts.push_back({word.data(), word.size()});
    vectors.assign(words.size() * dimension_of(embedder), -7.0F);
    return encode_into(vectors, embedder, texts.data(), texts.size());
  }

  latebind::test::FakeOpenvino fake;
  lb_runtime* runtime = nullptr;
  lb_encoder* embedder = nullptr;
  std::vector<float> vectors;
};

TEST_F(EmbedderInterfaceTest, AVectorThatIsNotFiniteIsRefusedByTheTextsPosition) {
  ASSERT_EQ(embed({"a cat sat", "a", "a cat"}), LB_OK) << last_message();
  EXPECT_THAT(vectors, Each(testing::Ge(0)));
  const long before = fake.calls("run");
  // The last row of the batch is that of the shortest text.
  fake.script(std::string(kEncoder) + "not-finite\n");
  EXPECT_EQ(embed({"a cat sat", "a", "a cat"}), LB_INTERNAL);
  EXPECT_THAT(last_message(), HasSubstr("texts[1]: openvino:CPU gave a vector with numbers that are not finite"));
  auto error = LB_INIT(lb_error);
  lb_last_error(&error);
  EXPECT_EQ(error.retryable, 0);
  EXPECT_EQ(fake.calls("run"), before + 1);
  // Nobody is blamed: the next text is computed as ever.
  fake.script(kEncoder);
  EXPECT_EQ(embed({"a"}), LB_OK) << last_message();
}

TEST_F(EmbedderInterfaceTest, AVendorAnswersWhereNativeCannot) {
  lb_encoder_destroy(std::exchange(embedder, nullptr));
  const latebind::Options options{
      {"device", "native:CPU,openvino:CPU"}, {"precision", "f32"}, {"embedding.shapes", "static"}};
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
  ASSERT_EQ(lb_encoder_open(runtime, folder.c_str(), options.get(), nullptr, nullptr, &embedder), LB_OK)
      << last_message();
  ASSERT_EQ(embed({"a"}), LB_OK) << last_message();
  lb_attestation* raw = nullptr;
  const lb_code asked = lb_encoder_attestation(embedder, &raw);
  const auto instead = latebind::detail::read_attestation(asked, raw);
  ASSERT_TRUE(instead.ok());
  EXPECT_EQ(instead->backend, "openvino");
  EXPECT_TRUE(instead->fallback);
  EXPECT_THAT(instead->reason,
              HasSubstr("native:CPU takes any number of texts of any length, and does not support static shapes"));
}

// A static length is compiled under a lock of its own when a text first needs it.
TEST_F(EmbedderInterfaceTest, TextsThatAFallbackComputedAreCounted) {
  lb_encoder_destroy(std::exchange(embedder, nullptr));
  const std::string both = std::string(kEncoder) + "device GPU\ndevice CPU\n";
  fake.script(both);
  const latebind::Options options{{"device", "gpu,cpu"}, {"precision", "f32"}};
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
  ASSERT_EQ(lb_encoder_open(runtime, folder.c_str(), options.get(), nullptr, nullptr, &embedder), LB_OK)
      << last_message();
  const std::array<lb_text, 2> texts{lb_text{"a cat", 5}, lb_text{"a dog", 5}};
  const auto fallback_texts = [&] {
    vectors.resize(texts.size() * dimension_of(embedder));
    auto stats = LB_INIT(lb_encode_stats);
    EXPECT_EQ(encode_into(vectors, embedder, texts.data(), texts.size(), nullptr, nullptr, &stats), LB_OK)
        << last_message();
    return stats.fallback_texts;
  };
  EXPECT_EQ(fallback_texts(), 0U);
  ASSERT_EQ(embed({"a"}), LB_OK) << last_message();  // what the device is asked with later
  // Two texts of two words, and what is put around them.
  fake.script(both + "on GPU fail-shape 2,4 -1 no kernel for this shape\n");
  EXPECT_EQ(fallback_texts(), 2U);
  lb_attestation* attestation = nullptr;
  ASSERT_EQ(lb_encoder_attestation(embedder, &attestation), LB_OK);
  auto active = LB_INIT(lb_active);
  EXPECT_EQ(lb_attestation_get(attestation, &active), LB_OK);
  EXPECT_EQ(active.fallback, 0) << "the device works, and would answer the next call";
  lb_attestation_destroy(attestation);
}

TEST_F(EmbedderInterfaceTest, ADeviceThatComputesWronglyIsPassedOverWhereThatIsAsked) {
  fake.script(std::string(kEncoder) + "device GPU\ndevice CPU\non GPU wrong-numbers\n");
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
  const auto opened_with = [&](const latebind::Options& options) {
    lb_encoder_destroy(std::exchange(embedder, nullptr));
    EXPECT_EQ(lb_encoder_open(runtime, folder.c_str(), options.get(), nullptr, nullptr, &embedder), LB_OK)
        << last_message();
    lb_attestation* raw = nullptr;
    const lb_code asked = lb_encoder_attestation(embedder, &raw);
    return latebind::detail::read_attestation(asked, raw);
  };
  const auto verified = opened_with({{"device", "openvino:GPU,openvino:CPU"},
                                     {"precision", "f32"},
                                     {"verification.enabled", "true"},
                                     {"verification.against", "openvino:CPU"}});
  ASSERT_TRUE(verified.ok());
  EXPECT_EQ(verified->device, "CPU");
  EXPECT_THAT(verified->reason, HasSubstr("openvino:GPU: it disagrees with openvino:CPU in f32"));
  EXPECT_EQ(verified->verification, "it is the device that others are compared with");
  const auto trusted = opened_with({{"device", "openvino:GPU,openvino:CPU"}, {"precision", "f32"}});
  ASSERT_TRUE(trusted.ok());
  EXPECT_EQ(trusted->device, "GPU");
  EXPECT_EQ(trusted->verification, "");
}

TEST_F(EmbedderInterfaceTest, WhoIsToldThatAStaticLengthFailedMayAskForItAgain) {
  lb_encoder_destroy(std::exchange(embedder, nullptr));
  const latebind::Options options{{"embedding.shapes", "static"}, {"embedding.static_lengths", "8"}};
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
  ASSERT_EQ(lb_encoder_open(runtime, folder.c_str(), options.get(), nullptr, nullptr, &embedder), LB_OK)
      << last_message();
  fake.script(std::string(kEncoder) + "fail-compile-shape 1,20 -1 no room for 20\n");
  const std::string_view text = "the cat sat on the mat and the dog ran";
  struct Asker {
    lb_encoder* embedder;
    std::string_view text;
    int told = 0;
    lb_code code = LB_OK;
  } asker{embedder, text};
  lb_set_log(
      [](void* context, std::int32_t, const char*) {
        auto& self = *static_cast<Asker*>(context);
        ++self.told;
        const lb_text again{self.text.data(), self.text.size()};
        std::array<float, 32> vector{};
        self.code = encode_into(vector, self.embedder, &again, 1);
      },
      &asker, LB_LOG_WARNING);
  EXPECT_NE(embed({text}), LB_OK);
  lb_set_log(nullptr, nullptr, 0);
  EXPECT_GT(asker.told, 0);
  EXPECT_NE(asker.code, LB_OK);
  EXPECT_EQ(embed({"a cat"}), LB_OK) << last_message();
}

TEST_F(EmbedderInterfaceTest, ShapesOfItsInputsAreTheEmbeddersOwnAffair) {
  const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
  const latebind::Options options{{"input_shapes", "1x8,1x8"}};
  lb_encoder* none = nullptr;
  EXPECT_EQ(lb_encoder_open(runtime, folder.c_str(), options.get(), nullptr, nullptr, &none), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("input_shapes are for models that are loaded as they are"));
}

}  // namespace
