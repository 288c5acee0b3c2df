// Downloading a model by its name ends when it is cancelled, whatever the hub does.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "core/platform/files/temporary_folder.h"
#include "embedding/hub/snapshot.h"

namespace latebind::embedding::hub {
namespace {

using core::StatusCode;
using std::chrono::seconds;

// A port of this machine that takes connections and never says a word; with `silent` false nobody is there.
class Port {
 public:
  explicit Port(bool silent) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, generic, size), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &size), 0);
    if (silent) {
      EXPECT_EQ(::listen(socket_, 8), 0);
    }
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  ~Port() { ::close(socket_); }

  [[nodiscard]] const std::string& url() const { return url_; }
  void wait_for_a_connection() const {
    pollfd wanted{socket_, POLLIN, 0};
    EXPECT_EQ(::poll(&wanted, 1, 60'000), 1);
  }

 private:
  const int socket_;
  std::string url_;
};

class HubCancellationTest : public ::testing::Test {
 protected:
  // As if the hub were there. Nobody waits so long.
  [[nodiscard]] Settings settings_of(const Port& hub) const {
    Settings settings;
    settings.endpoint = hub.url();
    settings.cache_folder = folder_.path();
    settings.answer_timeout = seconds(300);
    return settings;
  }

  const platform::TemporaryFolder folder_ = *platform::TemporaryFolder::create("hub-test");
  const ModelName name_ = *ModelName::parse("org/name");
  const core::Cancellation cancellation_ = core::Cancellation::create();
};

TEST_F(HubCancellationTest, AHubThatSaysNothingIsLeft) {
  const Port hub(true);
  std::thread canceller([&] {
    hub.wait_for_a_connection();
    cancellation_.request();
  });
  const auto began = std::chrono::steady_clock::now();
  const auto loaded = snapshot(name_, settings_of(hub), {.cancellation = cancellation_});
  canceller.join();
  EXPECT_EQ(loaded.status().code(), StatusCode::kCancelled) << loaded.status().to_string();
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(100));
}

TEST_F(HubCancellationTest, APauseBetweenTwoAttemptsEnds) {
  const Port nobody(false);
  bool paused = false;
  SnapshotOptions options;
  options.cancellation = cancellation_;
  options.note = [&](std::string_view) {
    paused = true;
    cancellation_.request();
  };
  const auto loaded = snapshot(name_, settings_of(nobody), options);
  EXPECT_TRUE(paused);
  EXPECT_EQ(loaded.status().code(), StatusCode::kCancelled) << loaded.status().to_string();
}

TEST_F(HubCancellationTest, NobodyIsAskedOnceItIsCancelled) {
  const Port nobody(false);
  cancellation_.request();
  const auto loaded = snapshot(name_, settings_of(nobody), {.cancellation = cancellation_});
  EXPECT_EQ(loaded.status().code(), StatusCode::kCancelled) << loaded.status().to_string();
}

}  // namespace
}  // namespace latebind::embedding::hub
