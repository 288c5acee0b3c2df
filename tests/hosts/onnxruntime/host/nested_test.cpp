// ONNX Runtime within ONNX Runtime: one library, if the application's can be opened by its name.
#include <fstream>
#include <set>
#include <string>

#include "tests/hosts/onnxruntime/host/fixture.h"

namespace latebind::test {
namespace {

// The files of ONNX Runtime in this process.
std::set<std::string> loaded_libraries() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    if (slash == std::string::npos) continue;
    std::string file = line.substr(slash);
    if (file.find("/libonnxruntime.so") != std::string::npos) files.insert(std::move(file));
  }
  return files;
}

TEST_F(OnnxruntimeHostTest, NestedMeansTheApplicationsOwnLibrary) {
  register_as("latebind");
  OrtSession* session = nullptr;
  ASSERT_EQ(session_error(model(), devices(), {{"nested", "1"}, {"device", "onnxruntime:CPU"}}, {}, &session), "");
  expect_right(session);
  EXPECT_NE(attestations().find("\"device\":\"onnxruntime:CPU\""), std::string::npos) << attestations();
  EXPECT_EQ(loaded_libraries().size(), 1U);
  // What is around it goes on as before.
  OrtSession* other = nullptr;
  ASSERT_EQ(session_error(devices(), nullptr, nullptr, &other), "");
  api().ReleaseSession(session);
  expect_right(other);
  api().ReleaseSession(other);
  ASSERT_FINE(api().UnregisterExecutionProviderLibrary(env_, "latebind"));
}

}  // namespace
}  // namespace latebind::test
