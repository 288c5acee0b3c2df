// Models from files and from memory, whole, damaged and missing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "core/platform/files/folders.h"
#include "tests/conformance/conformance.h"

namespace latebind::test {
namespace {

class Folder {
 public:
  Folder() {
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() / ("latebind-conformance-" + std::to_string(random()));
    std::filesystem::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    const auto file = path_ / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

core::Model model_of_bytes(std::string bytes) {
  core::ModelForm form;
  form.graph = core::SharedBytes::from_string(std::move(bytes));
  return core::Model::from_forms("damaged", {form});
}

// y = x + w, w of external data: 3 elements from the second on.
OnnxBuilder external_model(const std::string& location, std::size_t length = 12) {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {"n", 3})
      .output("y", ElementType::kF32, {"n", 3})
      .external_constant("w", ElementType::kF32, {3}, location, 4, length)
      .node("Add", {"x", "w"}, {"y"});
  return builder;
}

std::string external_bytes() {
  const std::vector<float> values{-1, 10, 20, 30, -1};
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

void expect_sum_with_weights(core::Executable& executable) {
  auto input = counting({2, 3});
  OutputTensor output;
  ASSERT_OK(run(executable, input.view(ElementType::kF32), output));
  EXPECT_EQ(values_of<float>(output), (std::vector<float>{10, 21, 32, 13, 24, 35}));
}

TEST_P(ConformanceTest, LoadsAModelFromAFile) {
  const Folder folder;
  const auto model = core::Model::from_file(folder.write("double.onnx", doubling_model({"n"}).bytes()));
  ASSERT_OK(model.status());
  const auto executable = load(*model);
  ASSERT_NE(executable, nullptr);
  EXPECT_TRUE(doubles(*executable, {3}));
}

TEST_P(ConformanceTest, LoadsAModelFromAFileWithANameOfOtherScripts) {
  const Folder folder;
  const auto model = core::Model::from_file(
      folder.write(reinterpret_cast<const char*>(u8"модель 模型 é.onnx"), doubling_model({"n"}).bytes()));
  ASSERT_OK(model.status());
  const auto executable = load(*model);
  ASSERT_NE(executable, nullptr);
  EXPECT_TRUE(doubles(*executable, {3}));
}

TEST_P(ConformanceTest, ReadsExternalDataBesideTheFile) {
  const Folder folder;
  folder.write("weights.bin", external_bytes());
  const auto model = core::Model::from_file(folder.write("model.onnx", external_model("weights.bin").bytes()));
  ASSERT_OK(model.status());
  const auto executable = load(*model);
  ASSERT_NE(executable, nullptr);
  expect_sum_with_weights(*executable);
}

TEST_P(ConformanceTest, ReadsExternalDataInMemory) {
  auto data = core::SharedBytes::from_string(external_bytes());
  const std::weak_ptr<const void> owner = data.owner;
  auto loaded = try_load(external_model("data/weights.bin").model({{"data/weights.bin", std::move(data), {}}}));
  ASSERT_OK(loaded.status());
  auto executable = *std::move(loaded);
  expect_sum_with_weights(*executable);
  executable.reset();
  backend_.reset();
  EXPECT_TRUE(owner.expired()) << "somebody still holds the weights";
}

TEST_P(ConformanceTest, ReadsExternalDataInMemoryWhoseFileIsKnown) {
  const Folder folder;
  const auto file = folder.write("weights.bin", external_bytes());
  const auto elsewhere = folder.write("other.bin", external_bytes());
  // Under the name that the model has for it, under another, not there any more, and no longer the one that was opened.
  auto replaced = *platform::file_identity(file);
  --replaced.changed_ns;
  for (const auto& [path, identity] : std::vector<std::pair<std::filesystem::path, platform::FileIdentity>>{
           {file, *platform::file_identity(file)},
           {elsewhere, *platform::file_identity(elsewhere)},
           {file.parent_path() / "gone.bin", *platform::file_identity(file)},
           {file, replaced}}) {
    // Other weights than were opened have the same size.
    if (identity == replaced) folder.write("weights.bin", std::string(external_bytes().size(), '\0'));
    auto loaded =
        try_load(external_model("weights.bin")
                     .model({{"weights.bin", core::SharedBytes::from_string(external_bytes()), path, identity}}));
    ASSERT_OK(loaded.status());
    expect_sum_with_weights(**loaded);
  }
}

// As in a bundle's ZIP. What follows in the file is none of the model's.
TEST_P(ConformanceTest, ReadsExternalDataThatIsAPartOfAFile) {
  const Folder folder;
  const std::string before = "12345678";
  const auto file = folder.write("a.lbundle", before + external_bytes() + external_bytes());
  const auto part_of = [&](std::size_t size) {
    auto part = *core::FilePart::open(file);
    part.where.offset = before.size();
    part.bytes.bytes = part.bytes.bytes.subspan(before.size(), size);
    return core::ExternalData::of_part("weights.bin", std::move(part));
  };
  auto loaded = try_load(external_model("weights.bin").model({part_of(external_bytes().size())}));
  ASSERT_OK(loaded.status());
  expect_sum_with_weights(**loaded);
  EXPECT_FALSE(try_load(external_model("weights.bin").model({part_of(12)})).ok());
  EXPECT_FALSE(try_load(external_model("weights.bin", 24).model({part_of(external_bytes().size())})).ok());
}

// From memory it takes no tensor of 2 GiB, and copies smaller ones more than once.
TEST_P(ConformanceTest, OnnxRuntimeOpensTheFileOfWhichExternalDataIsAPart) {
  if (!is("onnxruntime")) GTEST_SKIP();
  if (backend_->devices()->front().runtime_version.starts_with("1.20.")) GTEST_SKIP() << "it reads from memory alone";
  const Folder folder;
  const auto file = folder.write("a.lbundle", "12345678" + external_bytes());
  auto part = *core::FilePart::open(file);
  part.where.offset = 8;
  part.bytes = core::SharedBytes::from_string(std::string(external_bytes().size(), '\0'));
  auto loaded = try_load(external_model("weights.bin").model({core::ExternalData::of_part("weights.bin", part)}));
  ASSERT_OK(loaded.status());
  expect_sum_with_weights(**loaded);
}

// As the hub's cache has it: contents in one folder of the model, or of all models.
TEST_P(ConformanceTest, ReadsExternalDataBehindLinks) {
  for (const auto& [model_blob, data_blob] : std::vector<std::pair<std::string, std::string>>{
           {"models--a--b/blobs/e1", "models--a--b/blobs/e2"}, {"blobs/ab/e1", "blobs/cd/e2"}}) {
    const Folder folder;
    const auto link = [&](const std::string& name, const std::string& bytes, const std::string& blob) {
      const auto place = folder.path() / "models--a--b" / "snapshots" / "c" / "onnx" / name;
      std::filesystem::create_directories(place.parent_path());
      std::filesystem::create_directories((folder.path() / blob).parent_path());
      const auto content = folder.write(blob, bytes);
      std::error_code refused;
      std::filesystem::create_symlink(content.lexically_relative(place.parent_path()), place, refused);
      return refused ? std::filesystem::path() : place;
    };
    const auto data = link("model.onnx_data", external_bytes(), data_blob);
    if (data.empty()) GTEST_SKIP() << "this user may not make links";
    const auto model =
        core::Model::from_file(link("model.onnx", external_model("model.onnx_data").bytes(), model_blob));
    ASSERT_OK(model.status());
    auto loaded = try_load(*model);
    ASSERT_OK(loaded.status());
    expect_sum_with_weights(**loaded);
  }
}

TEST_P(ConformanceTest, RefusesExternalDataThatIsNotThere) {
  const Folder folder;
  const auto model = core::Model::from_file(folder.write("model.onnx", external_model("weights.bin").bytes()));
  ASSERT_OK(model.status());
  EXPECT_FALSE(try_load(*model).ok());
  const auto in_memory = try_load(
      external_model("weights.bin").model({{"other.bin", core::SharedBytes::from_string(external_bytes()), {}}}));
  EXPECT_FALSE(in_memory.ok());
}

TEST_P(ConformanceTest, RefusesExternalDataThatIsTooShort) {
  const auto short_data = core::SharedBytes::from_string(external_bytes().substr(0, 12));
  const auto refused = try_load(external_model("weights.bin").model({{"weights.bin", short_data, {}}}));
  EXPECT_FALSE(refused.ok());
  const auto wrong_length = try_load(
      external_model("weights.bin", 8).model({{"weights.bin", core::SharedBytes::from_string(external_bytes()), {}}}));
  EXPECT_FALSE(wrong_length.ok());
}

TEST_P(ConformanceTest, RefusesAFileThatIsGone) {
  const Folder folder;
  const auto file = folder.write("model.onnx", doubling_model({"n"}).bytes());
  const auto model = core::Model::from_file(file);
  ASSERT_OK(model.status());
  std::filesystem::remove(file);
  const auto refused = try_load(*model);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kNotFound) << refused.status().to_string();
  EXPECT_NE(refused.status().to_string().find("model.onnx"), std::string::npos) << refused.status().to_string();
}

TEST_P(ConformanceTest, RefusesGarbageAsInvalidModel) {
  std::mt19937 random(7);
  std::string noise(4096, '\0');
  for (char& c : noise)
    c = static_cast<char>(random());
  for (const std::string& bytes :
       {std::string("no model at all"), noise, std::string(1, '\0'), std::string("\x08\x09", 2)}) {
    const auto refused = try_load(model_of_bytes(bytes));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel) << refused.status().to_string();
  }
  EXPECT_TRUE(doubles(*load(doubling_model({2})), {2}));
}

TEST_P(ConformanceTest, RefusesAModelThatIsCutOffAnywhere) {
  const std::string whole = external_model("w", 12).bytes();
  for (std::size_t size = 1; size + 1 < whole.size(); size += 3) {
    const auto refused = try_load(model_of_bytes(whole.substr(0, size)));
    EXPECT_FALSE(refused.ok()) << "cut off after " << size << " of " << whole.size() << " bytes";
  }
}

TEST_P(ConformanceTest, RefusesAnUnknownOperatorByName) {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {2}).output("y", ElementType::kF32, {2}).node("FlyToTheMoon", {"x"}, {"y"});
  const auto refused = try_load(builder.model());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().vendor_text().find("FlyToTheMoon"), std::string::npos) << refused.status().to_string();
}

TEST_P(ConformanceTest, RefusesATensorThatNobodyMakes) {
  OnnxBuilder builder;
  builder.input("x", ElementType::kF32, {2}).output("y", ElementType::kF32, {2}).node("Add", {"x", "ghost"}, {"y"});
  const auto refused = try_load(builder.model());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidModel) << refused.status().to_string();
}

TEST_P(ConformanceTest, RefusesAModelThatItCannotRead) {
  core::ModelForm form;
  form.format = core::ModelFormat::kOpenvinoIr;
  form.graph = core::SharedBytes::from_string("<?xml version=\"1.0\"?><net></net>");
  const auto refused = try_load(core::Model::from_forms("ir", {form}));
  ASSERT_FALSE(refused.ok());
  const auto expected = is("onnxruntime") ? StatusCode::kUnsupported : StatusCode::kInvalidModel;
  EXPECT_EQ(refused.status().code(), expected) << refused.status().to_string();
}

}  // namespace
}  // namespace latebind::test
