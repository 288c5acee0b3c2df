// Whoever has a job done: a command line, a service, a caller of the C interface. A job prints nothing and knows none
// of them; this is what it asks of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace latebind::app {

// Called on the job's own thread; what is empty is not called.
struct Client {
  // How an option is called there, for messages: "--max-shape" of "max_shape". By default as it is.
  std::function<std::string(std::string_view key)> name_of{};
  // Something that a person should know, and that is no error.
  std::function<void(std::string_view)> note{};
  // Bytes of a model that are there and that there will be, while it is loaded from the hub.
  std::function<void(std::uint64_t done, std::uint64_t total)> loading{};

  // Where the log is seen, for messages that send somebody there.
  std::string log = "the log";

  [[nodiscard]] std::string name(std::string_view key) const { return name_of ? name_of(key) : std::string(key); }
};

}  // namespace latebind::app
