#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/fakes/fake_openvino_state.h"

namespace latebind::fake {
namespace {

struct Accounts {
  std::mutex mutex;
  // Guarded by mutex.
  std::map<const void*, std::string> alive;
  std::map<std::string, std::uint64_t> calls;
  std::string last_text;
  std::vector<std::string> defects;
};

// Never destroyed: runs may outlive main().
Accounts& accounts() {
  static Accounts* const instance = new Accounts;
  return *instance;
}

std::string script_path() {
  if (const char* path = std::getenv("LATEBIND_FAKE_SCRIPT")) return path;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&script_path), &info) == 0) return "";
  return std::string(info.dli_fname) + ".script";
}

std::string rest_of(std::istringstream& line) {
  std::string text;
  std::getline(line >> std::ws, text);
  return text;
}

Dims parse_dims(const std::string& text) {
  Dims dims;
  if (text == "-") return dims;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    dims.push_back(std::stoll(part));
  return dims;
}

Failure parse_failure(std::istringstream& line, bool silent) {
  Failure failure;
  std::string which;
  line >> failure.function >> which >> failure.code;
  failure.text = rest_of(line);
  failure.silent = silent;
  if (which != "*") {
    const auto dash = which.find('-');
    failure.first = std::stoull(which);
    if (dash == std::string::npos) {
      failure.last = failure.first;
    } else if (dash + 1 < which.size()) {
      failure.last = std::stoull(which.substr(dash + 1));
    }
  }
  return failure;
}

void sleep_ms(int ms) {
  if (ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// Runs while the dynamic loader opens the library.
struct SlowLoad {
  SlowLoad() {
    const Script script = Script::read();
    const auto found = script.slow_ms.find("load");
    if (found != script.slow_ms.end()) sleep_ms(found->second);
  }
};
const SlowLoad g_slow_load;

}  // namespace

Script Script::read() {
  Script script;
  bool no_devices = false;
  std::ifstream file(script_path());
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    if (!(line >> word) || word.starts_with('#')) continue;
    if (word == "version") {
      script.version = rest_of(line);
    } else if (word == "numbering") {
      script.old_numbering = rest_of(line) == "2024";
    } else if (word == "device") {
      script.devices.push_back(rest_of(line));
    } else if (word == "no-devices") {
      no_devices = true;
    } else if (word == "property") {
      std::string device;
      std::string key;
      line >> device >> key;
      script.properties[device][key] = rest_of(line);
    } else if (word == "fail" || word == "silent-fail") {
      script.failures.push_back(parse_failure(line, word == "silent-fail"));
    } else if (word == "fail-shape") {
      ShapeFailure failure;
      std::string dims;
      line >> dims >> failure.code;
      failure.dims = parse_dims(dims);
      failure.text = rest_of(line);
      script.shape_failures.push_back(failure);
    } else if (word == "slow") {
      std::string function;
      int ms = 0;
      line >> function >> ms;
      script.slow_ms[function] = ms;
    } else if (word == "hang") {
      script.hang = true;
    } else if (word == "hang-cancellable") {
      script.hang = script.hang_cancellable = true;
    } else if (word == "wrong-shape") {
      script.wrong_shape = true;
    } else if (word == "wrong-rank") {
      script.wrong_rank = true;
    } else if (word == "precision") {
      script.precision = rest_of(line);
    } else if (word == "refuse-property") {
      script.refused_properties.push_back(rest_of(line));
    } else {
      defect("the script has a line that means nothing: " + text);
    }
  }
  if (script.devices.empty() && !no_devices) script.devices.emplace_back("CPU");
  return script;
}

std::optional<abi::Code> enter(const char* function) {
  const Script script = Script::read();
  if (const auto slow = script.slow_ms.find(function); slow != script.slow_ms.end()) sleep_ms(slow->second);
  std::uint64_t call = 0;
  {
    const std::lock_guard lock(accounts().mutex);
    call = ++accounts().calls[function];
  }
  for (const Failure& failure : script.failures) {
    if (failure.function != function || call < failure.first || call > failure.last) continue;
    return failure.silent ? failure.code : fail(failure.code, failure.text);
  }
  return std::nullopt;
}

abi::Code fail(abi::Code code, const std::string& text) {
  const std::lock_guard lock(accounts().mutex);
  accounts().last_text = text;
  return code;
}

std::string last_text() {
  const std::lock_guard lock(accounts().mutex);
  return accounts().last_text;
}

void born(const char* kind, const void* object) {
  const std::lock_guard lock(accounts().mutex);
  accounts().alive[object] = kind;
}

bool dies(const char* kind, const void* object) {
  const std::lock_guard lock(accounts().mutex);
  const auto found = accounts().alive.find(object);
  if (found == accounts().alive.end() || found->second != kind) {
    accounts().defects.push_back(std::string("freed what is not alive: ") + kind);
    return false;
  }
  accounts().alive.erase(found);
  return true;
}

bool is_alive(const char* kind, const void* object) {
  const std::lock_guard lock(accounts().mutex);
  const auto found = accounts().alive.find(object);
  if (found != accounts().alive.end() && found->second == kind) return true;
  accounts().defects.push_back(std::string("used what is not alive: ") + kind);
  return false;
}

void defect(const std::string& what) {
  const std::lock_guard lock(accounts().mutex);
  accounts().defects.push_back(what);
}

}  // namespace latebind::fake

// For tests, beside the vendor's functions.
#define FAKE extern "C" __attribute__((visibility("default")))

// Objects of this kind that are alive; of all kinds for an empty word.
FAKE long lb_fake_alive(const char* kind);
FAKE long lb_fake_calls(const char* function);
// What was done wrong with the library so far, one a line. Valid until the next call.
FAKE const char* lb_fake_defects();

FAKE long lb_fake_alive(const char* kind) {
  auto& accounts = latebind::fake::accounts();
  const std::lock_guard lock(accounts.mutex);
  const std::string wanted = kind;
  return std::ranges::count_if(accounts.alive,
                               [&](const auto& entry) { return wanted.empty() || entry.second == wanted; });
}

FAKE long lb_fake_calls(const char* function) {
  auto& accounts = latebind::fake::accounts();
  const std::lock_guard lock(accounts.mutex);
  const auto found = accounts.calls.find(function);
  return found == accounts.calls.end() ? 0 : static_cast<long>(found->second);
}

FAKE const char* lb_fake_defects() {
  static std::string* const text = new std::string;
  auto& accounts = latebind::fake::accounts();
  const std::lock_guard lock(accounts.mutex);
  text->clear();
  for (const std::string& defect : accounts.defects)
    *text += defect + "\n";
  return text->c_str();
}
