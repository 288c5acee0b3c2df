// Exports that the system refuses the bytes of; the library reports success all the same.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "core/backend/questions.h"
#include "tests/openvino/fake_backend.h"

namespace latebind::openvino {
namespace {

using test::fake_model;

class FullDiskTest : public test::FakeBackendTest {};

TEST_F(FullDiskTest, AnExportThatMeetsALimitIsNoBlob) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Far more than an emulator writes for itself, which the limit holds for as well.
    const rlimit limit{100'000, 100'000};
    const std::string large = "input " + std::string(200'000, 'a') + " f32 2\noutput copy identity 0\n";
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    const auto blob = core::compile_blob(*backend_, fake_model(large), "CPU", {});
    const bool told = blob.status().message().find("raise the limit on file sizes") != std::string::npos;
    ::_exit(blob.ok() ? 3 : told ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace latebind::openvino
