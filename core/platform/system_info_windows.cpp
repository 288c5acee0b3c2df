#include <bit>

#include "core/platform/system_info.h"
#include "core/platform/windows_error.h"
// psapi.h needs the types of windows.h.
#include <psapi.h>

namespace latebind::platform {
namespace {

PROCESS_MEMORY_COUNTERS memory_counters() {
  PROCESS_MEMORY_COUNTERS counters{};
  counters.cb = sizeof(counters);
  if (::GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof(counters)) == 0) return {};
  return counters;
}

}  // namespace

unsigned usable_processors() {
  DWORD_PTR process = 0;
  DWORD_PTR system = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &process, &system) != 0 && process != 0) {
    return static_cast<unsigned>(std::popcount(process));
  }
  // The mask is zero for a process whose threads are in several groups of processors. Such a process may use all of
  // them.
  const DWORD all = ::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  return all > 0 ? all : 1;
}

std::uint64_t peak_resident_bytes() {
  return memory_counters().PeakWorkingSetSize;
}

std::uint64_t resident_bytes() {
  return memory_counters().WorkingSetSize;
}

std::uint64_t available_memory_bytes() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof(status);
  return ::GlobalMemoryStatusEx(&status) != 0 ? status.ullAvailPhys : 0;
}

std::string platform_name() {
#if defined(__x86_64__) || defined(_M_X64)
  return "windows-x86_64";
#else
#error "Latebind is not ported to this processor: name the platform here and add a cpu_<processor>.cpp"
#endif
}

}  // namespace latebind::platform
