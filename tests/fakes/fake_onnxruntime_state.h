// What a test tells a fake libonnxruntime to do, and what the fake has counted. Both sides include this header; the
// fake exports `latebind_fake_state`, which gives the one object of that copy of the library.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace latebind::fake {

struct OnnxruntimeState {
  // What to do. Set before the call that it is about.
  std::atomic<bool> env_fails{false};
  std::atomic<bool> no_providers{false};
  std::atomic<int> session_code{0};     // the vendor's error code when a session is made; 0: it is made
  std::atomic<bool> no_threads{false};  // then it refuses in the words of a session that could not start its threads
  std::atomic<int> run_failures{0};     // runs that fail from now on; -1: all
  std::atomic<int> run_code{1};
  std::atomic<bool> run_hangs{false};        // until it is told to stop
  std::atomic<bool> stop_is_ignored{false};  // then until `run_hangs` is false again
  std::atomic<bool> output_has_wrong_type{false};
  std::atomic<bool> output_is_null{false};
  std::atomic<bool> static_output{false};  // the model's output is declared as [3]
  std::atomic<int> input_type{1};          // what the model declares: f32
  std::atomic<int> input_rank{1};

  // What happened.
  std::atomic<int> alive{0};      // objects that were made and not released
  std::atomic<int> made{0};       // objects that were ever made
  std::atomic<int> envs{0};       // environments that were ever made
  std::atomic<int> telemetry{1};  // 0 once it was turned off
  // What the environment said of telemetry when the library was opened.
  const std::string telemetry_variable =
      std::getenv("ORT_DISABLE_TELEMETRY") != nullptr ? std::getenv("ORT_DISABLE_TELEMETRY") : "";
  std::atomic<int> running{0};
  std::atomic<std::uint32_t> asked_version{0};
  std::atomic<bool> wrong_order{false};  // something was released after what it stands on
};

}  // namespace latebind::fake
