#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "core/platform/service_manager.h"
#include "core/text/utf8.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using testing::ScopedVariable;
using testing::ScratchFolder;

// The other side: a socket of datagrams with a name.
class Manager {
 public:
  // As NOTIFY_SOCKET has it, a path or an @name.
  explicit Manager(const std::string& place) : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(place, address.sun_path);
    if (place[0] == '@') address.sun_path[0] = '\0';
    const auto size = offsetof(sockaddr_un, sun_path) + place.size() + (place[0] == '@' ? 0 : 1);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size)), 0);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() { ::close(descriptor_); }

  // Empty when nothing has come.
  [[nodiscard]] std::string heard() const {
    char block[8192];
    const ssize_t size = ::recv(descriptor_, block, sizeof(block), MSG_DONTWAIT);
    return size < 0 ? std::string() : std::string(block, static_cast<std::size_t>(size));
  }

 private:
  int descriptor_;
};

std::string own_name(const std::string& rest) {
  return "@latebind-test-" + std::to_string(::getpid()) + rest;
}

void expect_to_be_heard(const std::string& place) {
  const Manager manager(place);
  const ScopedVariable variable("NOTIFY_SOCKET", place);
  auto service = ServiceManager::from_environment();
  ASSERT_TRUE(service.is_there());
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr) << "a child would take it for its own";
  service.status("loading\nmodel  one");
  EXPECT_EQ(manager.heard(), "STATUS=loading model  one\n");
  service.ready("2 models on openvino:CPU");
  EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=2 models on openvino:CPU\n");
  service.watchdog();
  EXPECT_EQ(manager.heard(), "WATCHDOG=1\n");
  service.reloading();
  const std::string reloading = manager.heard();
  const std::string begin = "RELOADING=1\nMONOTONIC_USEC=";
  ASSERT_TRUE(reloading.starts_with(begin)) << reloading;
  EXPECT_GT(std::stoll(reloading.substr(begin.size())), 0);
  service.stopping();
  EXPECT_EQ(manager.heard(), "STOPPING=1\n");
  EXPECT_EQ(manager.heard(), "");
}

TEST(ServiceManagerTest, HearsHowTheServiceIs) {
  const ScratchFolder folder;
  expect_to_be_heard((folder / "notify").string());
}

TEST(ServiceManagerTest, HearsItOverAnAbstractSocket) {
  expect_to_be_heard(own_name("-notify"));
}

TEST(ServiceManagerTest, GetsAStatusOfOneLineThatIsNotTooLong) {
  const std::string place = own_name("-long");
  const Manager manager(place);
  const ScopedVariable variable("NOTIFY_SOCKET", place);
  auto service = ServiceManager::from_environment();
  std::string text = "READY=0\nx";
  while (text.size() < 100'000)
    text += "é";
  service.status(text);
  const std::string heard = manager.heard();
  EXPECT_TRUE(heard.starts_with("STATUS=READY=0 xé")) << heard;
  EXPECT_EQ(heard.find('\n'), heard.size() - 1);
  EXPECT_LE(heard.size(), 1010U);
  EXPECT_GE(heard.size(), 1000U);
  EXPECT_EQ(core::find_invalid_utf8(heard), std::nullopt);
}

TEST(ServiceManagerTest, GetsLaterWhatItHadNoRoomFor) {
  const std::string place = own_name("-full");
  const Manager manager(place);
  const ScopedVariable variable("NOTIFY_SOCKET", place);
  int warnings = 0;
  auto service = ServiceManager::from_environment([&](const core::Status&) { ++warnings; });
  // More than any limit on what waits (net.unix.max_dgram_qlen) that is left at its default.
  for (int i = 0; i < 5000; ++i)
    service.watchdog();
  service.ready("there");
  while (!manager.heard().empty()) {
  }
  service.watchdog();
  EXPECT_EQ(manager.heard(), "READY=1\nSTATUS=there\nWATCHDOG=1\n");
  EXPECT_EQ(warnings, 0);
}

TEST(ServiceManagerTest, IsGivenUpOnAfterOneWarning) {
  const ScratchFolder folder;
  const std::string nowhere = (folder / "gone").string();
  for (const std::string& place : {nowhere, std::string("relative"), std::string("@"), "/" + std::string(200, 'x')}) {
    const ScopedVariable variable("NOTIFY_SOCKET", place);
    std::vector<std::string> warnings;
    auto service =
        ServiceManager::from_environment([&](const core::Status& status) { warnings.emplace_back(status.message()); });
    EXPECT_EQ(service.is_there(), place == nowhere);
    service.ready("x");
    service.watchdog();
    ASSERT_EQ(warnings.size(), 1U) << place;
    EXPECT_TRUE(warnings[0].starts_with("cannot notify the service manager")) << warnings[0];
  }
}

TEST(ServiceManagerTest, IsNotThereWithoutAVariable) {
  const ScopedVariable none("NOTIFY_SOCKET", std::nullopt);
  const ScopedVariable watchdog("WATCHDOG_USEC", "1000");
  auto service =
      ServiceManager::from_environment([](const core::Status& status) { ADD_FAILURE() << status.message(); });
  EXPECT_FALSE(service.is_there());
  service.ready("x");
  service.stopping();
  EXPECT_EQ(service.watchdog_interval(), std::nullopt);
}

TEST(ServiceManagerTest, AsksForSignsOfLifeOfTheProcessThatItMeans) {
  const std::string place = own_name("-watchdog");
  const std::string own = std::to_string(::getpid());
  const auto interval = [&](const std::string& microseconds, const std::optional<std::string>& process) {
    const Manager manager(place);
    const ScopedVariable notify("NOTIFY_SOCKET", place);
    const ScopedVariable value("WATCHDOG_USEC", microseconds);
    const ScopedVariable meant("WATCHDOG_PID", process);
    const auto service = ServiceManager::from_environment();
    EXPECT_EQ(std::getenv("WATCHDOG_USEC"), nullptr);
    EXPECT_EQ(std::getenv("WATCHDOG_PID"), nullptr);
    return service.watchdog_interval();
  };
  EXPECT_EQ(interval("30000000", own), std::chrono::seconds(30));
  EXPECT_EQ(interval("30000000", std::nullopt), std::chrono::seconds(30));
  EXPECT_EQ(interval("30000000", "1"), std::nullopt);
  for (const char* value : {"0", "-5", "soon", "5s", "99999999999999999999"})
    EXPECT_EQ(interval(value, own), std::nullopt) << value;
}

// -- Sockets that are passed on

int tcp_socket(bool listens) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  if (listens) {
    EXPECT_EQ(::listen(descriptor, 1), 0);
  }
  return descriptor;
}

int unix_socket(const std::string& path) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  EXPECT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(descriptor, 1), 0);
  return descriptor;
}

// What a program says of the sockets that it is started with. An empty `process` is its own number.
std::string seen_by_a_program(const ScratchFolder& folder, const std::vector<int>& sockets, const std::string& count,
                              const std::string& process = "") {
  const auto output = (folder / "output").string();
  testing::write_file(output, "");
  const std::string failure = testing::in_child([&] {
    if (std::freopen(output.c_str(), "w", stdout) == nullptr) return std::string("no output");
    // First out of the way of the places that they are to have.
    std::vector<int> moved;
    for (const int one : sockets)
      moved.push_back(::fcntl(one, F_DUPFD_CLOEXEC, 100));
    for (std::size_t i = 0; i < moved.size(); ++i)
      ::dup2(moved[i], 3 + static_cast<int>(i));
    for (int i = 3 + static_cast<int>(moved.size()); i < 100; ++i)
      ::close(i);
    ::setenv("LISTEN_PID", process.empty() ? std::to_string(::getpid()).c_str() : process.c_str(), 1);
    ::setenv("LISTEN_FDS", count.c_str(), 1);
    ::setenv("LISTEN_FDNAMES", "http", 1);
    ::execl(FIXTURE_CHILD, FIXTURE_CHILD, "sockets", nullptr);
    return std::string("not started");
  });
  EXPECT_EQ(failure, "");
  for (const int one : sockets)
    ::close(one);
  return testing::read_file(output);
}

TEST(InheritedSocketsTest, AreThoseOfTheServiceManagerInItsOrder) {
  const ScratchFolder folder;
  const std::vector<int> sockets = {tcp_socket(true), unix_socket((folder / "socket").string())};
  EXPECT_EQ(seen_by_a_program(folder, sockets, "2"), "3 tcp\n4 unix\n") << "and no variable is left";
}

TEST(InheritedSocketsTest, AreNoneOfAnotherProcess) {
  const ScratchFolder folder;
  EXPECT_EQ(seen_by_a_program(folder, {tcp_socket(true)}, "1", "1"), "");
}

TEST(InheritedSocketsTest, WhatIsNoListeningStreamIsRefusedWithItsNumber) {
  const ScratchFolder folder;
  const auto refusal = [&](int descriptor) { return seen_by_a_program(folder, {tcp_socket(true), descriptor}, "2"); };
  const std::string begin = "cannot listen on descriptor 4 of the service manager: ";
  EXPECT_TRUE(refusal(tcp_socket(false)).starts_with(begin + "it does not listen"));
  EXPECT_TRUE(
      refusal(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)).starts_with(begin + "it is a socket, but not a"));
  EXPECT_TRUE(refusal(::open("/dev/null", O_RDONLY | O_CLOEXEC)).starts_with(begin + "it is not a socket"));
  EXPECT_TRUE(seen_by_a_program(folder, {tcp_socket(true)}, "2").starts_with(begin + "it is not open"));
}

TEST(InheritedSocketsTest, NumbersThatMakeNoSenseAreRefused) {
  const ScratchFolder folder;
  for (const char* count : {"65", "-1", "two", "1x", "99999999999999999999"})
    EXPECT_NE(seen_by_a_program(folder, {}, count).find("LISTEN_FDS is '" + std::string(count)), std::string::npos);
  EXPECT_NE(seen_by_a_program(folder, {}, "1", "me").find("LISTEN_PID is 'me'"), std::string::npos);
  EXPECT_EQ(seen_by_a_program(folder, {}, "0"), "");
}

TEST(InheritedSocketsTest, DoNotGoOnToChildren) {
  const ScratchFolder folder;
  EXPECT_EQ(testing::in_child([] {
              const int listening = tcp_socket(true);
              const int moved = ::fcntl(listening, F_DUPFD, 100);
              ::dup2(moved, 3);
              ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
              ::setenv("LISTEN_FDS", "1", 1);
              const auto sockets = inherited_sockets();
              if (!sockets.ok() || sockets->size() != 1) return std::string("none");
              const auto again = inherited_sockets();
              const bool is_closed = (static_cast<unsigned>(::fcntl(3, F_GETFD)) & FD_CLOEXEC) != 0;
              return std::string(is_closed && again.ok() && again->empty() ? "closed" : "open");
            }),
            "closed");
}

}  // namespace
}  // namespace latebind::platform
