// The kit's own host: passes every call of a plug-in on to Latebind's host, and notes what breaks the contract.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latebind/latebind_backend.h"

namespace latebind::kit {

// Valid as long as the process. Any thread may call its functions.
[[nodiscard]] const lbb_host& watching_host();

// Returns what was noted since the last call, each thing once. Any thread.
[[nodiscard]] std::vector<std::string> take_breaches();
// Notes a breach. Any thread.
void note_breach(std::string text);

// While it lives, the host knows that the object (an lbb_error, a sink, an output) may be used; afterwards each use is
// a breach that names the slot. The object must outlive the process's calls of the plug-in, so that a late use is
// noticed and does no harm. Objects that are never announced are not watched.
class Usable {
 public:
  Usable(const void* object, const char* slot);
  Usable(const Usable&) = delete;
  Usable& operator=(const Usable&) = delete;
  ~Usable();

 private:
  const void* const object_;
  const char* const slot_;
};

// Where the bytes of weights come from for a graph that is a copy (kit/raw/copied_graph.h).
class WeightSource {
 public:
  WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;
  virtual ~WeightSource() = default;
  [[nodiscard]] virtual const void* weight(std::uint32_t number) = 0;
  [[nodiscard]] virtual bool read(std::uint32_t number, std::uint64_t offset, void* to, std::uint64_t size) = 0;
};
// Sets the source for a graph; null removes it, and a later use of the graph is a breach.
void set_weight_source(const lbb_graph* graph, WeightSource* source);

}  // namespace latebind::kit
