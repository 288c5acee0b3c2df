// How soon a daemon under load answers: clients that ask, wait for the answer, and ask again after 5 ms.
//
//   overload_probe PORT CORPUS SECONDS TEXTS…
//
// A client for each TEXTS, which is how many texts it has in a request; the daemon serves a model called "model" at
// 127.0.0.1:PORT without a key. Prints a line for each request: when it was sent and how long it took, in nanoseconds
// of the monotonic clock, the status (0: a 429 without Retry-After), and its texts. The request's id is when it was
// sent.
//
// The clients are threads of their own that ask Linux for short slices, so that they run as soon as the answer is there
// although all processors compute: what is measured is the daemon, not when its client had its turn.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/die.h"
#include "bench/http_client.h"
#include "core/platform/thread_slice.h"

namespace {

using namespace latebind::bench;  // NOLINT: a program of one file, all of it about this
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{5};

struct Asked {
  std::int64_t sent = 0;
  std::int64_t took = 0;
  int status = 0;
  std::size_t texts = 0;
};

std::int64_t nanoseconds(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) die("usage: overload_probe PORT CORPUS SECONDS TEXTS…");
  std::vector<std::string> corpus;
  std::ifstream lines(argv[2]);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) corpus.push_back(line);
  }
  if (corpus.empty()) die("there is no text in the corpus");
  const auto end = Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * std::atof(argv[3])));

  std::mutex mutex;
  std::vector<Asked> all;
  std::vector<std::thread> clients;
  for (int client = 4; client < argc; ++client) {
    clients.emplace_back([&, client] {
      latebind::platform::prefer_short_slices();
      HttpClient connection(std::atoi(argv[1]));
      std::mt19937 random(static_cast<unsigned>(client));
      std::vector<std::string> texts(static_cast<std::size_t>(std::atoi(argv[client])));
      std::vector<Asked> own;
      while (Clock::now() < end) {
        for (std::string& text : texts)
          text = corpus[random() % corpus.size()];
        std::string request = embeddings_request(texts, fmt::format("X-Request-Id: {:019}\r\n", 0));
        const std::size_t id = request.find(fmt::format("{:019}", 0));
        const std::int64_t sent = nanoseconds(Clock::now().time_since_epoch());
        request.replace(id, 19, fmt::format("{:019}", sent));
        int status = connection.ask(request);
        const std::int64_t took = nanoseconds(Clock::now().time_since_epoch()) - sent;
        if (status == 429 && connection.answer().find("\r\nRetry-After: ") == std::string::npos) status = 0;
        own.push_back({sent, took, status, texts.size()});
        std::this_thread::sleep_for(kPause);
      }
      const std::lock_guard lock(mutex);
      all.insert(all.end(), own.begin(), own.end());
    });
  }
  for (std::thread& client : clients)
    client.join();
  for (const Asked& one : all)
    fmt::print("{} {} {} {}\n", one.sent, one.took, one.status, one.texts);
  return 0;
}
