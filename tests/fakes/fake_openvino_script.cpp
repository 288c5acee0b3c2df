#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/fakes/fake_openvino_state.h"
#include "tests/fakes/loaded.h"
#include "tests/support/export.h"

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
  static Accounts* const instance = kept(new Accounts);
  return *instance;
}

std::string script_path() {
  if (const char* path = std::getenv("LATEBIND_FAKE_SCRIPT")) return path;
  static const std::string* const beside = [] {
    const std::string file = test::file_of_code(reinterpret_cast<const void*>(&script_path));
    return kept(new std::string(file.empty() ? "" : file + ".script"));
  }();
  return *beside;
}

// Which file a script was read from, and in what state.
struct FileState {
  std::string path;
  bool there = false;
  std::uintmax_t size = 0;
  std::filesystem::file_time_type changed;
  std::uint64_t reloads = 0;  // see lb_fake_reload()

  static FileState of(const std::string& path) {
    FileState state;
    state.path = path;
    std::error_code gone;
    state.size = std::filesystem::file_size(path, gone);
    if (gone) return state;
    state.changed = std::filesystem::last_write_time(path, gone);
    state.there = true;
    return state;
  }
  friend bool operator==(const FileState&, const FileState&) = default;
};

// How long a file is believed not to have changed; lb_fake_reload() is heard at once.
constexpr std::chrono::milliseconds kGlance{1};

struct ScriptCache {
  std::mutex mutex;
  // Guarded by mutex.
  FileState state;
  std::chrono::steady_clock::time_point looked_at;
  std::shared_ptr<const Script> script;
  std::uint64_t reloads = 0;
};

ScriptCache& script_cache() {
  static ScriptCache* const instance = kept(new ScriptCache);
  return *instance;
}

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
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

// "*", "3", "3-" or "3-5".
void parse_which(const std::string& which, Scope& scope) {
  if (which.empty() || which == "*") return;
  const auto dash = which.find('-');
  scope.first = std::stoull(which);
  if (dash == std::string::npos) {
    scope.last = scope.first;
  } else if (dash + 1 < which.size()) {
    scope.last = std::stoull(which.substr(dash + 1));
  }
}

Scope parse_rest_of_scope(std::istringstream& line, Scope scope) {
  std::string which;
  line >> which;
  parse_which(which, scope);
  return scope;
}

Failure parse_failure(std::istringstream& line, const Scope& scope, bool silent) {
  Failure failure;
  failure.scope = scope;
  std::string which;
  line >> failure.function >> which >> failure.code;
  failure.text = rest_of(line);
  failure.silent = silent;
  parse_which(which, failure.scope);
  return failure;
}

ShapeFailure parse_shape_failure(std::istringstream& line, const Scope& scope, bool compiling) {
  ShapeFailure failure;
  failure.scope = scope;
  failure.compiling = compiling;
  std::string dims;
  line >> dims >> failure.code;
  failure.dims = parse_dims(dims);
  failure.text = rest_of(line);
  return failure;
}

Chance parse_chance(std::istringstream& line, const Scope& scope) {
  Chance chance;
  chance.scope = scope;
  line >> chance.seed >> chance.permille;
  for (std::string kind; line >> kind;) {
    if (kind != "fail" && kind != "slow" && kind != "wrong-shape" && kind != "hang-cancellable") {
      defect("the script knows no fault by chance called " + kind);
    }
    chance.kinds.push_back(kind);
  }
  if (chance.kinds.empty()) chance.kinds.emplace_back("fail");
  return chance;
}

void sleep_ms(int ms) {
  if (ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// Runs while the dynamic loader opens the library. A file says so: nobody can ask the library yet.
struct SlowLoad {
  SlowLoad() {
    for (const Slowness& slow : Script::read().slow) {
      if (slow.function != "load") continue;
      std::ofstream(script_path() + ".opening") << slow.ms;
      sleep_ms(slow.ms);
    }
  }
};
const SlowLoad g_slow_load;

}  // namespace

std::string base_of(const std::string& device) {
  return device.substr(0, device.find('.'));
}

bool Scope::covers(const std::string& name) const {
  return device.empty() || name == device || base_of(name) == device;
}

bool Scope::covers(const std::string& name, std::uint64_t call, std::uint64_t call_on_device) const {
  const std::uint64_t number = device.empty() ? call : call_on_device;
  return covers(name) && number >= first && number <= last;
}

std::string Chance::fault_of(const std::string& device, std::uint64_t run) const {
  if (!scope.covers(device)) return "";
  std::uint64_t value = seed;
  for (const char c : device)
    value = mixed(value ^ static_cast<unsigned char>(c));
  value = mixed(value ^ run);
  if (value % 1000 >= permille) return "";
  return kinds[mixed(value) % kinds.size()];
}

bool Script::lists(const std::string& device) const {
  return std::ranges::any_of(devices, [&](const std::string& name) { return name == device || name == device + ".0"; });
}

namespace {

Script parse(std::istream& file) {
  Script script;
  bool no_devices = false;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    if (!(line >> word) || word.starts_with('#')) continue;
    Scope scope;
    if (word == "on") line >> scope.device >> word;
    if (word == "version") {
      script.version = rest_of(line);
    } else if (word == "numbering") {
      script.old_numbering = rest_of(line) == "2024";
    } else if (word == "device") {
      script.devices.push_back(rest_of(line));
    } else if (word == "registered") {
      script.registered.push_back(rest_of(line));
    } else if (word == "no-devices") {
      no_devices = true;
    } else if (word == "property") {
      std::string device;
      std::string key;
      line >> device >> key;
      script.properties[device][key] = rest_of(line);
    } else if (word == "fail" || word == "silent-fail") {
      script.failures.push_back(parse_failure(line, scope, word == "silent-fail"));
    } else if (word == "fail-shape" || word == "fail-compile-shape" || word == "spoil-shape") {
      script.shape_failures.push_back(parse_shape_failure(line, scope, word == "fail-compile-shape"));
      script.shape_failures.back().spoils = word == "spoil-shape";
    } else if (word == "slow") {
      Slowness slow;
      slow.scope = scope;
      line >> slow.function >> slow.ms;
      script.slow.push_back(slow);
    } else if (word == "hang" || word == "hang-cancellable") {
      script.hangs.push_back({parse_rest_of_scope(line, scope), word == "hang-cancellable"});
    } else if (word == "wrong-shape") {
      script.wrong_shape.push_back(parse_rest_of_scope(line, scope));
    } else if (word == "wrong-rank") {
      script.wrong_rank.push_back(parse_rest_of_scope(line, scope));
    } else if (word == "not-finite") {
      script.not_finite.push_back(parse_rest_of_scope(line, scope));
    } else if (word == "wrong-numbers") {
      script.wrong_numbers.push_back(parse_rest_of_scope(line, scope));
    } else if (word == "encoder") {
      line >> script.encoder;
    } else if (word == "chance") {
      script.chances.push_back(parse_chance(line, scope));
    } else if (word == "precision") {
      script.precisions.emplace_back(scope, rest_of(line));
    } else if (word == "refuse-property") {
      script.refused_properties.push_back(rest_of(line));
    } else if (word == "cut-exports") {
      script.cut_exports = true;
    } else {
      defect("the script has a line that means nothing: " + text);
    }
  }
  if (script.devices.empty() && !no_devices) script.devices.emplace_back("CPU");
  return script;
}

}  // namespace

std::shared_ptr<const Script> Script::current() {
  const std::string path = script_path();
  auto& cache = script_cache();
  const std::lock_guard lock(cache.mutex);
  const auto now = std::chrono::steady_clock::now();
  const bool fresh = cache.script && cache.state.path == path && cache.state.reloads == cache.reloads;
  if (fresh && now - cache.looked_at < kGlance) return cache.script;
  cache.looked_at = now;
  auto state = FileState::of(path);
  state.reloads = cache.reloads;
  if (!cache.script || state != cache.state) {
    std::ifstream file(path);
    // It is being replaced.
    if (!file && state.there && cache.script) return cache.script;
    cache.script = std::make_shared<const Script>(parse(file));
    cache.state = std::move(state);
  }
  return cache.script;
}

Entry enter_on(const char* function, const std::string& device) {
  const auto script = Script::current();
  for (const Slowness& slow : script->slow)
    if (slow.function == function && slow.scope.covers(device)) sleep_ms(slow.ms);
  Entry entry;
  {
    const std::lock_guard lock(accounts().mutex);
    entry.call = ++accounts().calls[function];
    if (!device.empty()) entry.call_on_device = ++accounts().calls[std::string(function) + "@" + base_of(device)];
  }
  for (const Failure& failure : script->failures) {
    if (failure.function != function || !failure.scope.covers(device, entry.call, entry.call_on_device)) continue;
    entry.code = failure.silent ? failure.code : fail(failure.code, failure.text);
    break;
  }
  return entry;
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
#define FAKE LB_TEST_EXPORT

// Objects of this kind that are alive; of all kinds for an empty word.
FAKE long lb_fake_alive(const char* kind);
// "run", or "run@NPU" for those on one device.
FAKE long lb_fake_calls(const char* function);
// Reads the script again, even if its file looks as before.
FAKE void lb_fake_reload();
// What was done wrong with the library so far, one a line. Valid until the next call.
FAKE const char* lb_fake_defects();

FAKE long lb_fake_alive(const char* kind) {
  auto& accounts = latebind::fake::accounts();
  const std::lock_guard lock(accounts.mutex);
  const std::string wanted = kind;
  return static_cast<long>(std::ranges::count_if(
      accounts.alive, [&](const auto& entry) { return wanted.empty() || entry.second == wanted; }));
}

FAKE void lb_fake_reload() {
  auto& cache = latebind::fake::script_cache();
  const std::lock_guard lock(cache.mutex);
  ++cache.reloads;
}

FAKE long lb_fake_calls(const char* function) {
  auto& accounts = latebind::fake::accounts();
  const std::lock_guard lock(accounts.mutex);
  const auto found = accounts.calls.find(function);
  return found == accounts.calls.end() ? 0 : static_cast<long>(found->second);
}

FAKE const char* lb_fake_defects() {
  static std::string* const text = latebind::fake::kept(new std::string);
  auto& accounts = latebind::fake::accounts();
  const std::lock_guard lock(accounts.mutex);
  text->clear();
  for (const std::string& defect : accounts.defects)
    *text += defect + "\n";
  return text->c_str();
}
