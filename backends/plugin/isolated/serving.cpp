#include "backends/plugin/isolated/serving.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "backends/plugin/host.h"
#include "backends/plugin/isolated/forms.h"
#include "backends/plugin/isolated/held_host.h"
#include "backends/plugin/isolated/held_model.h"
#include "backends/plugin/isolated/wire.h"
#include "backends/plugin/load_plugin.h"
#include "core/platform/files/folders.h"
#include "core/platform/kept_child.h"
#include "core/threads/mutex.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using platform::OwnedFile;
using platform::SharedMemory;

struct HeldExecutable {
  std::unique_ptr<HeldModel> model;
  lbb_executable* executable = nullptr;
};

// What the process holds. Never destroyed.
struct Held {
  PluginPointer plugin;
  lbb_backend* state = nullptr;
  core::Mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<HeldExecutable>> loaded LB_GUARDED_BY(mutex);
  std::uint64_t last LB_GUARDED_BY(mutex) = 0;

  std::shared_ptr<HeldExecutable> find(std::uint64_t number) {
    const core::MutexLock lock(mutex);
    const auto found = loaded.find(number);
    return found == loaded.end() ? nullptr : found->second;
  }
};

Writer answer(const Status& status, const lbb_error& error, const Writer& content) {
  Writer written;
  written.integer(code_of(status.code()));
  written.text(std::string(status.message()).substr(0, kTextMax).c_str());
  written.number(status.vendor_code() ? 1 : 0);
  written.integer(status.vendor_code().value_or(0));
  written.text(std::string(status.vendor_text()).substr(0, kTextMax).c_str());
  written.number(error.is_spoiled ? 1 : 0);
  take_lines(written);
  written.append(content);
  return written;
}

// One lane: answers questions until the program closes it.
class Answerer {
 public:
  Answerer(Held& held, OwnedFile socket) : held_(held), socket_(std::move(socket)) {}

  void serve() {
    while (true) {
      OwnedFile file;
      auto question = platform::receive_message(socket_.get(), kQuestionMax, &file);
      if (!question.ok()) return;
      from_ = std::make_shared<Reader>(*std::move(question));
      content_ = Writer();
      error_ = lbb_error();
      const Status status = respond(static_cast<Ask>(from_->number()), std::move(file));
      const Writer said = answer(status, error_, content_);
      if (!platform::send_message(socket_.get(), said.bytes()).ok()) return;
    }
  }

 private:
  template <class Call>
  Status call(const char* slot, const Call& call) {
    return called(held_.plugin->name, slot, error_, call);
  }

  Status respond(Ask ask, OwnedFile file) {
    const lbb_table& slots = held_.plugin->slots;
    if (ask != Ask::kCreate && held_.state == nullptr) return breach("there is no state yet");
    switch (ask) {
      case Ask::kCreate:
        return create();
      case Ask::kAvailable:
        return call("available", [&](lbb_error* error) { return slots.available(held_.state, error); });
      case Ask::kVersion:
        return version();
      case Ask::kDevices:
        return devices();
      case Ask::kTakes:
        return load(std::move(file), true);
      case Ask::kLoad:
        return load(std::move(file), false);
      case Ask::kPrepare:
        return with_loaded([&](const HeldExecutable& loaded) {
          return call("prepare", [&](lbb_error* error) { return slots.prepare(loaded.executable, error); });
        });
      case Ask::kRun:
        return with_loaded([&](const HeldExecutable& loaded) { return run(loaded, std::move(file)); });
      case Ask::kCollect:
        return collect(std::move(file));
      case Ask::kDestroy:
        return destroy();
      case Ask::kLane:
        break;
    }
    return breach("the question is not known");
  }

  template <class Use>
  Status with_loaded(const Use& use) {
    const auto loaded = held_.find(from_->number());
    return loaded ? use(*loaded) : breach("the model is not known");
  }

  Status create() {
    std::size_t count = 0;
    const lbb_pair* const* const pairs = read_pairs(*from_, count);
    return call("create", [&](lbb_error* error) {
      return held_.plugin->slots.create(&held_host(), pairs, count, &held_.state, error);
    });
  }

  Status version() {
    lbb_text text;
    const Status status = call("runtime_version", [&](lbb_error* error) {
      return held_.plugin->slots.runtime_version(held_.state, &text, error);
    });
    content_.text(text.text.c_str());
    return status;
  }

  Status devices() {
    HeldDevices devices;
    const bool is_virtual = from_->number() != 0;
    const lbb_table& slots = held_.plugin->slots;
    const Status status = call("devices", [&](lbb_error* error) {
      return (is_virtual ? slots.virtual_devices : slots.devices)(held_.state, &devices, error);
    });
    content_.number(devices.count);
    content_.append(devices.written);
    return status;
  }

  Status load(OwnedFile file, bool asks_only) {
    SharedMemory memory;
    if (file.get() >= 0) {
      LB_ASSIGN_OR_RETURN(memory, SharedMemory::map(std::move(file)));
    }
    const char* const device = from_->text();
    const lbb_options* const options = read_options(*from_);
    const auto loaded = std::make_shared<HeldExecutable>();
    LB_ASSIGN_OR_RETURN(loaded->model, HeldModel::read(from_, std::move(memory)));
    const lbb_table& slots = held_.plugin->slots;
    if (asks_only) {
      return call("takes", [&](lbb_error* error) {
        return slots.takes(held_.state, loaded->model->graph(), device, options, error);
      });
    }
    LB_RETURN_IF_ERROR(call("load", [&](lbb_error* error) {
      return slots.load(held_.state, loaded->model->get(), device, options, &loaded->executable, error);
    }));
    if (loaded->executable == nullptr) return breach("nothing was loaded, and no error was reported");
    const lbb_active* const active = slots.describe_executable(loaded->executable);
    const core::MutexLock lock(held_.mutex);
    held_.loaded.emplace(++held_.last, loaded);
    content_.number(held_.last);
    content_.number(active != nullptr && has_size(*active) ? 1 : 0);
    if (active != nullptr && has_size(*active)) write_active(content_, read_struct(*active));
    return {};
  }

  Status destroy() {
    std::shared_ptr<HeldExecutable> loaded;
    {
      const core::MutexLock lock(held_.mutex);
      const auto found = held_.loaded.find(from_->number());
      if (found == held_.loaded.end()) return {};
      loaded = std::move(found->second);
      held_.loaded.erase(found);
    }
    return called_without_error(held_.plugin->name, "destroy_executable",
                                [&] { held_.plugin->slots.destroy_executable(loaded->executable); });
  }

  Status run(const HeldExecutable& loaded, OwnedFile file) {
    if (file.get() >= 0) {
      LB_ASSIGN_OR_RETURN(memory_, SharedMemory::map(std::move(file)));
    }
    const auto bytes = memory_.bytes();
    HeldRun run{.run = sized<lbb_run>(),
                .is_cancelled = reinterpret_cast<const std::atomic<std::uint32_t>*>(bytes.data())};
    run.run.deadline_ns = from_->integer();
    run.run.is_cancelled = is_run_cancelled;
    run.run.side_by_side = from_->number();
    place_ = {.memory = bytes, .at = from_->number()};
    std::size_t input_count = 0;
    lbb_tensor** const inputs = from_->structs<lbb_tensor>(input_count);
    for (std::size_t i = 0; i < input_count; ++i) {
      lbb_tensor& input = *inputs[i];
      input.type = from_->code();
      input.dims = from_->list<std::int64_t>(input.rank);
      input.data = bytes.data() + from_->number();
    }
    outputs_ = std::vector<HeldOutput>(std::min<std::size_t>(from_->number(), kListMax));
    std::vector<lbb_output*> output_list;
    for (HeldOutput& output : outputs_) {
      output.place = &place_;
      output_list.push_back(&output);
    }
    if (bytes.size() < kTensorStep || place_.at > bytes.size() || !from_->good()) return breach("the run is damaged");
    LB_RETURN_IF_ERROR(call("execute", [&](lbb_error* error) {
      return held_.plugin->slots.execute(loaded.executable, inputs, input_count, output_list.data(), output_list.size(),
                                         &run.run, error);
    }));
    return describe_outputs();
  }

  // Whether everything is in the memory; how much memory is needed; and where each output is.
  Status describe_outputs() {
    std::size_t needed = kTensorStep;
    for (const HeldOutput& output : outputs_)
      needed += stepped(output.size);
    content_.number(place_.blocks.empty() ? 1 : 0);
    content_.number(needed);
    for (const HeldOutput& output : outputs_) {
      content_.number(output.is_prepared ? 1 : 0);
      content_.integer(output.type);
      content_.list(output.dims.data(), output.dims.size());
      content_.number(place_.blocks.empty() ? static_cast<std::uint64_t>(output.data - memory_.bytes().data()) : 0);
    }
    return {};
  }

  Status collect(OwnedFile file) {
    LB_ASSIGN_OR_RETURN(SharedMemory larger, SharedMemory::map(std::move(file)));
    std::size_t at = kTensorStep;
    for (HeldOutput& output : outputs_) {
      if (at + output.size > larger.bytes().size()) return breach("the memory is too small");
      std::byte* const to = larger.bytes().data() + at;
      if (output.size > 0) std::memcpy(to, output.data, output.size);
      output.data = to;
      at += stepped(output.size);
    }
    place_.blocks.clear();
    memory_ = std::move(larger);
    return describe_outputs();
  }

  Held& held_;
  const OwnedFile socket_;
  SharedMemory memory_;
  std::shared_ptr<Reader> from_;
  Writer content_;
  lbb_error error_;
  Place place_;
  std::vector<HeldOutput> outputs_;
};

// The first message: what the plug-in is, or why it cannot be opened.
void introduce(int socket, const Result<PluginPointer>& plugin) {
  Writer about;
  if (plugin.ok()) {
    const Plugin& made = **plugin;
    for (const std::string& text : {made.name, made.version, made.maker})
      about.text(text.c_str());
    const lbb_table& slots = made.slots;
    for (const bool has : {slots.runtime_version != nullptr, slots.takes != nullptr, slots.prepare != nullptr,
                           slots.virtual_devices != nullptr})
      about.number(has ? 1 : 0);
    about.number(made.settings.size());
    for (const Setting& setting : made.settings) {
      for (const std::string& text : {setting.key, setting.value, setting.help})
        about.text(text.c_str());
      about.number(setting.words.size());
      for (const std::string& word : setting.words)
        about.text(word.c_str());
      about.number(setting.is_number ? 1 : 0);
      about.integer(setting.least);
      about.integer(setting.most);
    }
  }
  static_cast<void>(platform::send_message(socket, answer(plugin.status(), lbb_error(), about).bytes()));
}

}  // namespace

void hold_plugin(const std::string& library) {
  constexpr int kSocket = 0;
  auto& held = *new Held();
  // The program has the digest already.
  auto plugin = load_plugin(platform::path_from_utf8(library), "unknown", held_host());
  introduce(kSocket, plugin);
  if (plugin.ok()) held.plugin = *plugin;
  while (plugin.ok() && platform::wait_for_parent(kSocket)) {
    OwnedFile file;
    if (!platform::receive_message(kSocket, kNameMax, &file).ok()) break;
    std::thread([lane = std::make_shared<Answerer>(held, std::move(file))] { lane->serve(); }).detach();
  }
  // Threads of the plug-in, and runs, may be at work.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace latebind::plugin
