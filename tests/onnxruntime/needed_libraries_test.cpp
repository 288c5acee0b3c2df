// Which libraries are opened before a provider that needs them, on any machine, without a file.
#include "backends/onnxruntime/needed_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_file_system.h"

namespace latebind::onnxruntime {
namespace {

using core::Status;
using core::StatusCode;
using core::System;
using test::FakeFileSystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kSitePackages = "/venv/lib/python3.12/site-packages";
const std::string kRuntimeFile = kSitePackages + "/onnxruntime/capi/libonnxruntime.so.1.31.1";
const std::string kCuda = kSitePackages + "/onnxruntime/capi/libonnxruntime_providers_cuda.so";

const KnownProvider& cuda() {
  return *known_provider(kCudaProvider);
}

TEST(OnnxruntimeNeededLibrariesTest, AreThoseOfTheMakersPackagesInTheOrderOfNeed) {
  const std::string runtime = kSitePackages + "/nvidia/cu13/lib/libcudart.so.13";
  const std::string blas = kSitePackages + "/nvidia/cu13/lib/libcublas.so.13";
  const std::string blas_lt = kSitePackages + "/nvidia/cu13/lib/libcublasLt.so.13";
  const std::string dnn = kSitePackages + "/nvidia/cudnn/lib/libcudnn.so.9";
  const FakeFileSystem files({kCuda, blas, blas_lt, dnn, runtime, kSitePackages + "/nvidia/cudnn/lib/libcudnn_ops.so.9",
                              kSitePackages + "/nvidia/cu13/lib/libcublas.soft",
                              kSitePackages + "/nvidia/cu13/include/cuda.h",
                              "/elsewhere/nvidia/cu13/lib/libcudart.so.13"});
  EXPECT_THAT(needed_libraries(cuda(), kCuda, kRuntimeFile, System::kLinux, files),
              ElementsAre(runtime, blas_lt, blas, dnn));
}

TEST(OnnxruntimeNeededLibrariesTest, OfTwoVersionsAreBoth) {
  const std::string twelve = kSitePackages + "/nvidia/cuda_runtime/lib/libcudart.so.12";
  const std::string thirteen = kSitePackages + "/nvidia/cu13/lib/libcudart.so.13";
  const FakeFileSystem files({twelve, thirteen});
  EXPECT_THAT(needed_libraries(cuda(), kCuda, kRuntimeFile, System::kLinux, files), ElementsAre(thirteen, twelve));
}

TEST(OnnxruntimeNeededLibrariesTest, MayLieBesideTheProvider) {
  const KnownProvider& known = *known_provider("NvTensorRTRTXExecutionProvider");
  const std::string folder = kSitePackages + "/onnxruntime_ep_nv_tensorrt_rtx";
  const FakeFileSystem files({folder + "/libtensorrt_rtx.so.1.7.1", folder + "/libcudart.so.13.4.36",
                              folder + "/libtensorrt_onnxparser_rtx.so.1.7.1"});
  EXPECT_THAT(needed_libraries(known, folder + "/libonnxruntime_providers_nv_tensorrt_rtx.so", kRuntimeFile,
                               System::kLinux, files),
              ElementsAre(folder + "/libcudart.so.13.4.36", folder + "/libtensorrt_rtx.so.1.7.1",
                          folder + "/libtensorrt_onnxparser_rtx.so.1.7.1"));
}

TEST(OnnxruntimeNeededLibrariesTest, OnWindowsHaveTheirNamesThere) {
  const FakeFileSystem files({"C:/venv/Lib/site-packages/nvidia/cu13/bin/x86_64/cudart64_13.dll",
                              "C:/venv/Lib/site-packages/nvidia/cudnn/bin/cudnn64_9.dll"});
  EXPECT_THAT(needed_libraries(cuda(), "C:/venv/Lib/site-packages/onnxruntime/capi/onnxruntime_providers_cuda.dll",
                               "C:/venv/Lib/site-packages/onnxruntime/capi/onnxruntime.dll", System::kWindows, files),
              ElementsAre("C:/venv/Lib/site-packages/nvidia/cu13/bin/x86_64/cudart64_13.dll",
                          "C:/venv/Lib/site-packages/nvidia/cudnn/bin/cudnn64_9.dll"));
}

TEST(OnnxruntimeNeededLibrariesTest, ThoseThatOthersMayHavePutThereAreLeftOut) {
  FakeFileSystem files({kSitePackages + "/nvidia/cu13/lib/libcudart.so.13"});
  files.others = {"/venv"};
  EXPECT_THAT(needed_libraries(cuda(), kCuda, kRuntimeFile, System::kLinux, files), IsEmpty());
}

TEST(OnnxruntimeNeededLibrariesTest, OneThatIsMissingIsNamedWithWhatToType) {
  const auto failure = Status::from_vendor(
      StatusCode::kDeviceFailed, "ONNX Runtime cannot register the provider " + kCuda, 1,
      "Failed to load library with error: libcublasLt.so.13: cannot open shared object file: No such file");
  const auto explained = with_remedy(cuda(), failure);
  EXPECT_EQ(explained.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(explained.to_string(), AllOf(HasSubstr("needs libcublasLt.so.13"), HasSubstr("pip install"),
                                           HasSubstr(R"("onnxruntime-gpu[cuda,cudnn]")")));
  const Status other(StatusCode::kDeviceFailed, "libcudart.so.13 says no");
  EXPECT_EQ(with_remedy(cuda(), other).to_string(), other.to_string());
}

}  // namespace
}  // namespace latebind::onnxruntime
