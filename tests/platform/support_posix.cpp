#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tests/platform/support.h"

namespace latebind::platform::testing {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "latebind-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder could be made: " + name);
  ::chmod(name.c_str(), 0755);
  path_ = name;
}

ScopedVariable::ScopedVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
  if (const char* before = std::getenv(name)) before_ = before;
  if (value) {
    ::setenv(name, value->c_str(), 1);
  } else {
    ::unsetenv(name);
  }
}

ScopedVariable::~ScopedVariable() {
  if (before_) {
    ::setenv(name_.c_str(), before_->c_str(), 1);
  } else {
    ::unsetenv(name_.c_str());
  }
}

bool is_root() {
  return ::geteuid() == 0;
}

std::string in_child(const std::function<std::string()>& body) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe could be made");
  // What is buffered now would be written by the child as well, if anything flushes it there (the thread sanitizer
  // does).
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no child could be made");
  if (child == 0) {
    ::close(ends[0]);
    std::string answer;
    try {
      answer = body();
    } catch (const std::exception& error) {
      answer = std::string("exception: ") + error.what();
    }
    for (std::size_t sent = 0; sent < answer.size();) {
      const ssize_t count = ::write(ends[1], answer.data() + sent, answer.size() - sent);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string answer;
  char block[4096];
  for (ssize_t count = 0; (count = ::read(ends[0], block, sizeof(block))) > 0;) {
    answer.append(block, static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(state) && WEXITSTATUS(state) == 0 ? answer : std::string();
}

std::string as_nobody(const std::function<std::string()>& body) {
  return in_child([&body] {
    if (is_root() && (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      return std::string("the rights of root could not be given up");
    }
    return body();
  });
}

}  // namespace latebind::platform::testing
