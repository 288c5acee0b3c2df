// A plug-in that a process has opened is not used in its children.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/plugin/support.h"

namespace latebind::plugin::testing {
namespace {

// Runs `check` in a child made by fork(). Returns whether it is true there.
template <class Check>
bool holds_in_a_child(const Check& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_refused(const Status& status) {
  return status.code() == StatusCode::kLibraryUnusable &&
         status.to_string().find("fork() made it after its parent had opened the plug-in") != std::string::npos;
}

TEST(PluginForkTest, AChildOfAProcessThatOpenedAPluginCannotUseIt) {
  auto backend = backend_in(TOY_PLUGIN);
  auto loaded = backend->load(sum(), "CPU", {});
  ASSERT_OK(loaded.status());
  const auto memory = backend->create_buffer("CPU", 16);
  ASSERT_OK(memory.status());
  EXPECT_TRUE(holds_in_a_child([&] { return is_refused(backend->available()); }));
  EXPECT_TRUE(holds_in_a_child([&] { return is_refused(backend->devices().status()); }));
  EXPECT_TRUE(holds_in_a_child([&] { return is_refused(backend->load(sum(), "CPU", {}).status()); }));
  EXPECT_TRUE(holds_in_a_child([&] {
    Summands summands;
    OutputTensor output;
    return is_refused((*loaded)->execute(summands.views, {&output, 1}, {}));
  }));
  EXPECT_TRUE(holds_in_a_child([&] { return is_refused((*memory)->read(0, {})); }));
  // Destroying what the parent made calls nothing of the plug-in.
  EXPECT_TRUE(holds_in_a_child([&] {
    backend.reset();
    loaded = Status(StatusCode::kNotFound, "gone");
    return true;
  }));
  Summands summands;
  OutputTensor output;
  EXPECT_OK((*loaded)->execute(summands.views, {&output, 1}, {}));
}

TEST(PluginForkTest, AChildCanOpenAPluginThatItsParentHasNotOpened) {
  const auto backend = backend_in(TOY_PLUGIN);
  EXPECT_TRUE(holds_in_a_child([&] { return backend->available().ok(); }));
}

}  // namespace
}  // namespace latebind::plugin::testing
