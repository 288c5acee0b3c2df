#include "backends/plugin/isolated/isolated_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "backends/plugin/host.h"
#include "backends/plugin/isolated/call.h"
#include "backends/plugin/isolated/forms.h"
#include "backends/plugin/isolated/session.h"
#include "core/log.h"
#include "core/platform/files/folders.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// What stands for the plug-in's state.
struct Backend {
  Isolation isolation;
  std::string library;
  std::string name;
  Writer create;  // the question that creates the state
  core::Mutex mutex;
  SessionPointer session LB_GUARDED_BY(mutex);  // with a state; null before the first question
  SessionPointer fresh LB_GUARDED_BY(mutex);    // without one: what has described the plug-in

  // The process that lives, with a state in it.
  Result<SessionPointer> living();
};

struct Executable {
  SessionPointer session;
  std::uint64_t number = 0;
  std::unique_ptr<Reader> said;  // owns what `active` points to
  const lbb_active* active = nullptr;
  std::atomic<std::size_t> output_bytes{0};  // of the last run
};

Backend& of(lbb_backend* backend) {
  return *reinterpret_cast<Backend*>(backend);
}
Executable& of(lbb_executable* executable) {
  return *reinterpret_cast<Executable*>(executable);
}

Result<SessionPointer> Backend::living() {
  const core::MutexLock lock(mutex);
  if (session && !session->has_ended()) return session;
  std::unique_ptr<Reader> said;
  lbb_error error;
  lbb_code code = LBB_OK;
  SessionPointer made = std::exchange(fresh, nullptr);
  if (!made) {
    LB_ASSIGN_OR_RETURN(made, Session::start(isolation.program, library, isolation.time, said));
    code = outcome(*said, &error);
  }
  if (code == LBB_OK) code = ask_once(made, create, -1, {.time = isolation.time}, said, &error);
  if (code != LBB_OK) return status_of(code, error, name, "create");
  session = made;
  return made;
}

// Asks a process that lives; a question that costs little.
lbb_code ask_living(lbb_backend* backend, const Writer& question, std::unique_ptr<Reader>& said, lbb_error* error) {
  const auto session = of(backend).living();
  if (!session.ok()) return failed(error, session.status());
  return ask_once(*session, question, -1, {.time = of(backend).isolation.time}, said, error);
}

Writer question_of(Ask ask) {
  Writer question;
  question.number(ask);
  return question;
}

lbb_code refuse_create(const lbb_host*, const lbb_pair* const*, size_t, lbb_backend**, lbb_error*) {
  return LBB_INTERNAL;  // Plugin::create is called instead
}

void destroy(lbb_backend* backend) {
  delete &of(backend);
}

lbb_code available(lbb_backend* backend, lbb_error* error) {
  std::unique_ptr<Reader> said;
  return ask_living(backend, question_of(Ask::kAvailable), said, error);
}

lbb_code runtime_version(lbb_backend* backend, lbb_text* version, lbb_error* error) {
  std::unique_ptr<Reader> said;
  const lbb_code code = ask_living(backend, question_of(Ask::kVersion), said, error);
  if (code == LBB_OK) own_host().set_text(version, said->text());
  return code;
}

lbb_code list_devices(lbb_backend* backend, bool is_virtual, lbb_devices* devices, lbb_error* error) {
  Writer question = question_of(Ask::kDevices);
  question.number(is_virtual ? 1 : 0);
  std::unique_ptr<Reader> said;
  lbb_code code = ask_living(backend, question, said, error);
  if (code != LBB_OK) return code;
  for (std::size_t left = said->count(); left > 0 && code == LBB_OK; --left)
    code = own_host().add_device(devices, read_device(*said));
  return said->good() ? code : failed(error, damaged());
}

lbb_code devices(lbb_backend* backend, lbb_devices* devices, lbb_error* error) {
  return list_devices(backend, false, devices, error);
}
lbb_code virtual_devices(lbb_backend* backend, lbb_devices* devices, lbb_error* error) {
  return list_devices(backend, true, devices, error);
}

// Copies blocks to memory that the process maps; none if there are none.
Result<platform::SharedMemory> shared(const std::vector<std::span<const std::byte>>& blocks) {
  std::size_t size = 0;
  for (const auto& block : blocks)
    size += stepped(block.size());
  if (size == 0) return platform::SharedMemory();
  LB_ASSIGN_OR_RETURN(auto memory, platform::SharedMemory::create(size));
  std::byte* to = memory.bytes().data();
  for (const auto& block : blocks) {
    std::ranges::copy(block, to);
    to += stepped(block.size());
  }
  return memory;
}

// Sends a model with a question. `session` takes the process that has answered.
lbb_code send_model(lbb_backend* backend, Ask what, const lbb_model& model, const char* device,
                    const lbb_options* options, SessionPointer& session, std::unique_ptr<Reader>& said,
                    lbb_error* error) {
  Writer question = question_of(what);
  question.text(device);
  write_options(question, *options);
  std::vector<std::span<const std::byte>> blocks;
  write_model(question, own_host(), model, blocks);
  if (question.bytes().size() > kQuestionMax)
    return own_host().fail(error, LBB_UNSUPPORTED, "the graph is too large for an isolated plug-in");
  const auto memory = shared(blocks);
  if (!memory.ok()) return failed(error, memory.status());
  const auto living = of(backend).living();
  if (!living.ok()) return failed(error, living.status());
  session = *living;
  return ask_once(session, question, memory->descriptor(), {}, said, error);
}

// Only the graph is asked about.
lbb_code takes(lbb_backend* backend, const lbb_graph* graph, const char* device, const lbb_options* options,
               lbb_error* error) {
  lbb_model model = sized<lbb_model>();
  model.name = "";
  model.graph = graph;
  SessionPointer session;
  std::unique_ptr<Reader> said;
  return send_model(backend, Ask::kTakes, model, device, options, session, said, error);
}

lbb_code load(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
              lbb_executable** executable, lbb_error* error) {
  auto made = std::make_unique<Executable>();
  const lbb_code code = send_model(backend, Ask::kLoad, *model, device, options, made->session, made->said, error);
  if (code != LBB_OK) return code;
  made->number = made->said->number();
  if (made->said->number() != 0) made->active = read_description(*made->said);
  if (!made->said->good()) return failed(error, damaged());
  *executable = reinterpret_cast<lbb_executable*>(made.release());
  return LBB_OK;
}

const lbb_active* describe_executable(lbb_executable* executable) {
  return of(executable).active;
}

void destroy_executable(lbb_executable* executable) {
  const std::unique_ptr<Executable> owned(&of(executable));
  if (owned->session->has_ended()) return;
  Writer question = question_of(Ask::kDestroy);
  question.number(owned->number);
  lbb_error error;
  std::unique_ptr<Reader> said;
  static_cast<void>(ask_once(owned->session, question, -1, {}, said, &error));
}

lbb_code prepare(lbb_executable* executable, lbb_error* error) {
  Writer question = question_of(Ask::kPrepare);
  question.number(of(executable).number);
  std::unique_ptr<Reader> said;
  return ask_once(of(executable).session, question, -1, {}, said, error);
}

// One run of an executable.
class Run {
 public:
  Run(Executable& executable, Call& call, const lbb_run& run, lbb_error* error)
      : executable_(executable), call_(call), run_(run), error_(error) {}

  lbb_code execute(const lbb_tensor* const* inputs, std::size_t input_count, lbb_output* const* outputs,
                   std::size_t output_count) {
    const Status placed = place(inputs, input_count, output_count);
    if (!placed.ok()) return failed(error_, placed);
    if (const lbb_code code = ask(question_, is_new_); code != LBB_OK) return code;
    if (said_->number() == 0) {
      const std::uint64_t needed = said_->number();
      const auto grown = needed <= kOutputsMax ? call_.lane().grow(needed) : Result<bool>(damaged());
      if (!grown.ok()) return failed(error_, grown.status());
      if (!*grown) return failed(error_, damaged());
      if (const lbb_code code = ask(question_of(Ask::kCollect), true); code != LBB_OK) return code;
      if (said_->number() == 0) return failed(error_, damaged());
    }
    executable_.output_bytes = std::min<std::uint64_t>(said_->number(), kOutputsMax);
    for (std::size_t i = 0; i < output_count; ++i) {
      if (const lbb_code code = give(outputs[i]); code != LBB_OK) return code;
    }
    return LBB_OK;
  }

 private:
  // More than any output has (Shape::element_count()).
  static constexpr std::uint64_t kOutputsMax = std::uint64_t{1} << 40U;

  // Copies the inputs to the lane's memory and writes the question.
  Status place(const lbb_tensor* const* inputs, std::size_t input_count, std::size_t output_count) {
    std::vector<std::size_t> sizes(input_count);
    std::size_t end = kTensorStep;
    for (std::size_t i = 0; i < input_count; ++i) {
      LB_ASSIGN_OR_RETURN(const core::Shape shape, shape_of("an input", inputs[i]->dims, inputs[i]->rank));
      LB_ASSIGN_OR_RETURN(sizes[i], core::byte_size_of(static_cast<core::ElementType>(inputs[i]->type), shape));
      end += stepped(sizes[i]);
    }
    LB_ASSIGN_OR_RETURN(is_new_, call_.lane().grow(end + executable_.output_bytes.load()));
    std::byte* const memory = call_.lane().memory.bytes().data();
    std::memset(memory, 0, kTensorStep);
    question_.number(executable_.number);
    question_.integer(run_.deadline_ns);
    question_.number(run_.side_by_side);
    question_.number(end);
    question_.number(input_count);
    std::size_t at = kTensorStep;
    for (std::size_t i = 0; i < input_count; ++i) {
      if (sizes[i] > 0) std::memcpy(memory + at, inputs[i]->data, sizes[i]);
      question_.integer(inputs[i]->type);
      question_.list(inputs[i]->dims, inputs[i]->rank);
      question_.number(at);
      at += stepped(sizes[i]);
    }
    question_.number(output_count);
    return {};
  }

  // Loading again starts another process if this one has ended.
  lbb_code ask(const Writer& question, bool with_memory) {
    Lane& lane = call_.lane();
    const Patience patience{.run = &run_, .lane = &lane};
    const lbb_code code = call_.ask(question, with_memory ? lane.memory.descriptor() : -1, patience, said_, error_);
    if (code != LBB_OK && executable_.session->has_ended()) own_host().spoil(error_);
    return code;
  }

  lbb_code give(lbb_output* output) {
    const bool is_prepared = said_->number() != 0;
    const std::int32_t type = said_->code();
    std::size_t rank = 0;
    const auto* const dims = said_->list<std::int64_t>(rank);
    const std::uint64_t at = said_->number();
    if (!said_->good()) return failed(error_, damaged());
    if (!is_prepared) return LBB_OK;  // which the caller sees
    void* const to = own_host().prepare_output(output, type, dims, rank);
    if (to == nullptr) return LBB_BUFFER_TOO_SMALL;
    const auto shape = shape_of("an output", dims, rank);
    const auto size = shape.ok() ? core::byte_size_of(static_cast<core::ElementType>(type), *shape) : shape.status();
    const auto bytes = call_.lane().memory.bytes();
    if (!size.ok() || at > bytes.size() || *size > bytes.size() - at) return failed(error_, damaged());
    if (*size > 0) std::memcpy(to, bytes.data() + at, *size);
    return LBB_OK;
  }

  Executable& executable_;
  Call& call_;
  const lbb_run& run_;
  lbb_error* const error_;
  Writer question_ = question_of(Ask::kRun);
  bool is_new_ = false;
  std::unique_ptr<Reader> said_;
};

lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                 lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  auto call = Call::in(of(executable).session);
  if (!call.ok()) {
    if (of(executable).session->has_ended()) own_host().spoil(error);
    return failed(error, call.status());
  }
  return Run(of(executable), *call, *run, error).execute(inputs, input_count, outputs, output_count);
}

// The table, with what the plug-in says about itself.
Result<std::shared_ptr<Plugin>> read_about(Reader& about, const std::string& library) {
  lbb_error error;
  const lbb_code code = outcome(about, &error);
  if (code != LBB_OK) return status_of(code, error, library, LBB_ENTRY);
  auto made = std::make_shared<Plugin>();
  const auto text = [&] {
    const char* const given = about.text();
    return std::string(given != nullptr ? given : "");
  };
  made->name = text();
  made->version = text();
  made->maker = text();
  lbb_table& slots = made->slots;
  slots = sized<lbb_table>();
  slots.abi = LBB_ABI;
  slots.create = refuse_create;
  slots.destroy = destroy;
  slots.available = available;
  slots.devices = devices;
  slots.load = load;
  slots.describe_executable = describe_executable;
  slots.execute = execute;
  slots.destroy_executable = destroy_executable;
  if (about.number() != 0) slots.runtime_version = runtime_version;
  if (about.number() != 0) slots.takes = takes;
  if (about.number() != 0) slots.prepare = prepare;
  if (about.number() != 0) slots.virtual_devices = virtual_devices;
  for (std::size_t left = about.count(); left > 0; --left) {
    Setting& setting = made->settings.emplace_back();
    setting.key = text();
    setting.value = text();
    setting.help = text();
    for (std::size_t words = about.count(); words > 0; --words)
      setting.words.push_back(text());
    setting.is_number = about.number() != 0;
    setting.least = about.integer();
    setting.most = about.integer();
  }
  if (!about.good() || !is_identifier(made->name)) return damaged();
  return made;
}

}  // namespace

Result<PluginPointer> load_isolated(const std::filesystem::path& library, std::string digest,
                                    const Isolation& isolation) {
  const std::string place = platform::path_to_utf8(library);
  std::unique_ptr<Reader> about;
  LB_ASSIGN_OR_RETURN(SessionPointer session, Session::start(isolation.program, place, isolation.time, about));
  LB_ASSIGN_OR_RETURN(const auto made, read_about(*about, place));
  made->file = library;
  made->digest = std::move(digest);
  // The first state uses the process that described the plug-in. Each later state starts another process.
  const auto spare = std::make_shared<std::atomic<SessionPointer>>(std::move(session));
  made->create = [isolation, place, spare, name = made->name](const lbb_pair* const* settings, std::size_t count,
                                                              lbb_backend** backend) {
    auto state = std::make_unique<Backend>();
    {
      const core::MutexLock lock(state->mutex);
      state->fresh = spare->exchange(nullptr);
    }
    state->isolation = isolation;
    state->library = place;
    state->name = name;
    state->create.number(Ask::kCreate);
    state->create.number(count);
    for (std::size_t i = 0; i < count; ++i) {
      state->create.text(settings[i]->key);
      state->create.text(settings[i]->text);
    }
    *backend = reinterpret_cast<lbb_backend*>(state.release());
  };
  return PluginPointer(made);
}

}  // namespace latebind::plugin
