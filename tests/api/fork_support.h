// A child made by fork(), for tests of what it can still do.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <string>

namespace latebind::test {

// What `body` says in a child of this process; how the child ended when it did not get so far. A minute is for ever.
inline std::string said_by_child(const std::function<std::string()>& body) {
  constexpr unsigned kForEver = 60;
  std::array<int, 2> ends{-1, -1};
  if (::pipe(ends.data()) != 0) return "no pipe";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return "no child";
  if (child == 0) {
    ::alarm(kForEver);
    const std::string said = body();
    static_cast<void>(!::write(ends[1], said.data(), said.size()));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = ::read(ends[0], block.data(), block.size())) > 0;)
    said.append(block.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return said + " and then signal " + std::to_string(WTERMSIG(status));
  return said;
}

}  // namespace latebind::test
