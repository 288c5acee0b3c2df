// Compiled models in stock ONNX Runtime: damaged, of another version, and with a path that leads elsewhere.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "core/platform/files/temporary_folder.h"
#include "tests/hosts/onnxruntime/stock/scene.h"

namespace latebind::test {
namespace {

namespace fs = std::filesystem;

class StockContextTest : public StockHostTest {
 protected:
  void SetUp() override {
    StockHostTest::SetUp();
    auto made = platform::TemporaryFolder::create("stock");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<platform::TemporaryFolder>(*std::move(made));
    fs::create_directory(folder_->path() / "model");
    ASSERT_EQ(compile(file("model.onnx"), false), "");
    name_ = only_bundle(folder_->path() / "model");
    bundle_ = read(file(name_));
    ASSERT_FALSE(bundle_.empty());
    write(file("anonymous.onnx"), context_model(name_, false));
  }
  static std::string only_bundle(const fs::path& folder) {
    std::string found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".lbundle") continue;
      EXPECT_EQ(found, "");
      found = entry.path().filename().string();
    }
    return found;
  }
  [[nodiscard]] fs::path file(const std::string& name) const { return folder_->path() / "model" / name; }
  static std::string read(const fs::path& from) {
    std::ifstream in(from, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const fs::path& to, const std::string& bytes) {
    std::ofstream(to, std::ios::binary | std::ios::trunc) << bytes;
  }
  // The error of a session of the payload, or of its run: once in the model and once beside it, which must agree on
  // whether there is one. The model does not say which bundle is its own.
  std::string both(const std::string& payload) const {
    const std::string embedded = use(context_model(payload, true));
    write(file(name_), payload);
    const std::string beside = use_file(file("anonymous.onnx"));
    EXPECT_EQ(embedded.empty(), beside.empty()) << embedded << " / " << beside;
    return embedded.empty() ? beside : embedded;
  }
  void expect_error_or_right(const std::string& error, const std::string& what) {
    if (error.empty()) return;
    ++errors_;
    EXPECT_NE(error.find("Latebind"), std::string::npos) << what << ": " << error;
  }

  std::string name_;  // of the bundle's file
  std::unique_ptr<platform::TemporaryFolder> folder_;
  std::string bundle_;
  int errors_ = 0;
};

TEST_F(StockContextTest, AWholeOneIsRightInTheModelAndBesideIt) {
  EXPECT_EQ(both(bundle_), "");
  EXPECT_EQ(use_file(file("model.onnx")), "");
}

// The fake's model of another name: a good bundle, and another one.
TEST_F(StockContextTest, AnotherModelsBundleIsRefused) {
  fs::create_directory(file("other"));
  ASSERT_EQ(compile(file("other/model.onnx"), false, "another"), "");
  const std::string other = only_bundle(file("other"));
  EXPECT_NE(other, name_);
  EXPECT_EQ(use_file(file("other/model.onnx")), "");
  fs::rename(file("other") / other, file(name_));
  EXPECT_EQ(use_file(file("anonymous.onnx")), "");
  const std::string error = use_file(file("model.onnx"));
  EXPECT_NE(error.find("is another model's bundle"), std::string::npos) << error;
  EXPECT_NE(error.find(name_), std::string::npos) << error;
  // What is there now is nobody's to replace, and a draft of it does not stay.
  const auto listed = [&] {
    return std::distance(fs::directory_iterator(folder_->path() / "model"), fs::directory_iterator());
  };
  const auto before = listed();
  const std::string refused = compile(file("model.onnx"), false);
  EXPECT_NE(refused.find("another file has that name and is not replaced"), std::string::npos) << refused;
  EXPECT_EQ(listed(), before);
  // A damaged one of its own is.
  std::string damaged = bundle_;
  damaged[damaged.find("fake-blob")] = '#';
  write(file(name_), damaged);
  EXPECT_EQ(compile(file("model.onnx"), false), "");
  EXPECT_EQ(read(file(name_)), bundle_);
}

TEST_F(StockContextTest, TwoModelsOfOneStemHaveTwoBundles) {
  ASSERT_EQ(compile(file("model.second"), false, "another"), "");
  ASSERT_EQ(compile(file("model.onnx"), false), "");
  EXPECT_EQ(use_file(file("model.onnx")), "");
  EXPECT_EQ(use_file(file("model.second")), "");
}

TEST_F(StockContextTest, ACutOneIsAnErrorOrRight) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const std::size_t size = i < 20 ? static_cast<std::size_t>(i) : random() % bundle_.size();
    expect_error_or_right(both(bundle_.substr(0, size)), "cut to " + std::to_string(size));
  }
  EXPECT_EQ(errors_, 60);
}

TEST_F(StockContextTest, AFlippedOneIsAnErrorOrRight) {
  std::mt19937 random(2);
  for (int i = 0; i < 120; ++i) {
    std::string damaged = bundle_;
    for (int k = 0; k <= i % 4; ++k)
      damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    expect_error_or_right(both(damaged), "damage " + std::to_string(i));
  }
}

// What follows the last file of the ZIP is the list of all: nearly every byte of it says something.
TEST_F(StockContextTest, AFlippedDirectoryIsAnErrorOrRight) {
  const std::size_t begin = bundle_.find("PK\x01\x02");
  ASSERT_NE(begin, std::string::npos);
  for (std::size_t at = begin; at < bundle_.size(); at += 7) {
    std::string damaged = bundle_;
    damaged[at] = static_cast<char>(~damaged[at]);
    expect_error_or_right(both(damaged), "byte " + std::to_string(at));
  }
  EXPECT_GT(errors_, 10);
}

TEST_F(StockContextTest, ADamagedModelIsTheHostsErrorOrRight) {
  const std::string whole = read(file("model.onnx"));
  std::mt19937 random(3);
  for (int i = 0; i < 150; ++i) {
    std::string damaged = whole;
    if (i % 3 == 0) {
      damaged.resize(random() % whole.size());
    } else {
      damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    }
    write(file("damaged.onnx"), damaged);
    // The host's own words, or the provider's: what counts is that there are some, or the result is right.
    EXPECT_NE(use_file(file("damaged.onnx")), "WRONG NUMBERS") << i;
  }
}

TEST_F(StockContextTest, OneForAnotherVersionOfTheVendorIsCompiledAgain) {
  fake_.script("version 2027.1.0-fake\n");
  const long before = fake_.calls("ov_core_compile_model");
  EXPECT_EQ(both(bundle_), "");
  EXPECT_GT(fake_.calls("ov_core_compile_model"), before);
}

TEST_F(StockContextTest, AFileMustBeInTheModelsFolder) {
  fs::create_directory(file("inner"));
  write(file("outer.lbundle"), bundle_);
  write(file("inner/here.lbundle"), bundle_);
  fs::create_symlink(file("outer.lbundle"), file("inner/link.lbundle"));
  const auto of = [&](const std::string& name) {
    write(file("inner/model.onnx"), context_model(name, false));
    return use_file(file("inner/model.onnx"));
  };
  for (const char* name : {"../outer.lbundle", "inner/../../outer.lbundle", "/etc/passwd", "link.lbundle",
                           "missing.lbundle", ".", "", "here.lbundle/", "\xff\xfe"}) {
    const std::string error = of(name);
    EXPECT_NE(error.find("Latebind"), std::string::npos) << name << ": " << error;
  }
  EXPECT_EQ(of("here.lbundle"), "");
}

}  // namespace
}  // namespace latebind::test
