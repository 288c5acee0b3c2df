/* A plug-in in C: adds two tensors of f32. Tests load it, built against the header as it is, against one whose structs
 * are larger (TOY_GROWN), and against one without what came last (TOY_CUT).
 *
 * Its setting "mode" says what a run does: "sum" adds; "poll" waits until the host cancels the run; "stop" waits until
 * the host calls stop_run(); "stuck" waits until somebody calls toy_release(); "fail", "spoil", "forget", "twice",
 * "type" and "shape" do what their names say. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/latebind_backend.h"

#ifdef TOY_GROWN
/* What a host that does not know these fields must not look at. */
#define SIZED(type) .grown_for_test = {~(uint64_t)0, ~(uint64_t)0}, .struct_size = sizeof(type)
#else
#define SIZED(type) .struct_size = sizeof(type)
#endif

#define VERSION "1.5"
#define BLOB "toy blob"

struct lbb_backend {
  const lbb_host* host;
  char mode[16];
};

struct lbb_buffer {
  uint64_t size;
  unsigned char bytes[];
};

struct lbb_executable {
  const lbb_backend* backend;
  int64_t dims[LBB_RANK_MAX];
  size_t rank;
  char names[3][64];
  lbb_tensor_info infos[3];
  const lbb_tensor_info* inputs[2];
  const lbb_tensor_info* outputs[1];
  lbb_active active;
};

static atomic_int is_released;
static atomic_uintptr_t stopped_run;

/* For tests. */
LBB_EXPORT void toy_release(int released);
LBB_EXPORT void toy_release(int released) {
  atomic_store(&is_released, released);
}

static const lbb_host* the_host;

static lbb_code fail(lbb_error* error, lbb_code code, const char* message) {
  return the_host->fail(error, code, message);
}

static lbb_code create(const lbb_host* host, const lbb_pair* const* settings, size_t count, lbb_backend** backend,
                       lbb_error* error) {
  lbb_backend* made = calloc(1, sizeof *made);
  if (made == NULL) return fail(error, LBB_OUT_OF_MEMORY, "toy has no memory for its state");
  made->host = host;
  strcpy(made->mode, "sum");
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(settings[i]->key, "mode") == 0) snprintf(made->mode, sizeof made->mode, "%s", settings[i]->text);
  }
  *backend = made;
  return LBB_OK;
}

static void destroy(lbb_backend* backend) {
  free(backend);
}

static lbb_code available(lbb_backend* backend, lbb_error* error) {
  (void)backend;
  (void)error;
  return LBB_OK;
}

static lbb_code devices(lbb_backend* backend, lbb_devices* list, lbb_error* error) {
  (void)error;
  static const int32_t precisions[] = {LBB_PRECISION_F32};
  const lbb_pair fact = {SIZED(lbb_pair), .key = "Additions", .text = "in a loop"};
  const lbb_pair* const facts[] = {&fact};
  const lbb_device device = {SIZED(lbb_device),        .name = "CPU",
                             .kind = LBB_KIND_CPU,     .full_name = "additions in a loop",
                             .reads = LBB_READS_GRAPH, .precisions = precisions,
                             .precision_count = 1,
#ifndef TOY_CUT
                             .facts = facts,           .fact_count = 1,
#endif
                             .memory = 1 << 20};
  (void)facts;
  return backend->host->add_device(list, &device);
}

/* Refuses an argument that it does not know, as every plug-in must. Gives the node of the argument "a" or "b". */
static lbb_code read_add(const lbb_node* node, uint32_t operands[2], lbb_error* error) {
  int found = 0;
  for (size_t i = 0; i < node->argument_count; ++i) {
    const lbb_argument* argument = node->arguments[i];
    const int is_a = strcmp(argument->name, "a") == 0;
    if ((!is_a && strcmp(argument->name, "b") != 0) || argument->kind != LBB_VALUE) {
      char text[256];
      snprintf(text, sizeof text, "toy does not know the argument '%s' of 'add'", argument->name);
      return fail(error, LBB_UNSUPPORTED, text);
    }
    operands[is_a ? 0 : 1] = argument->index;
    found |= is_a ? 1 : 2;
  }
  return found == 3 ? LBB_OK : fail(error, LBB_INVALID_MODEL, "toy misses an operand of 'add'");
}

static const char* name_of_input(const lbb_node* node) {
  for (size_t i = 0; i < node->argument_count; ++i) {
    if (strcmp(node->arguments[i]->name, "name") == 0) return node->arguments[i]->text;
  }
  return "";
}

static lbb_code check_graph(const lbb_graph* graph, const lbb_node* ports[3], const char** output, lbb_error* error) {
  size_t inputs = 0;
  const lbb_node* sum = NULL;
  uint32_t operands[2] = {0, 0};
  for (size_t i = 0; i < graph->node_count; ++i) {
    const lbb_node* node = graph->nodes[i];
    if (strcmp(node->op, "input") == 0 && node->type == LBB_F32 && inputs < 2) {
      ports[inputs++] = node;
    } else if (strcmp(node->op, "add") == 0 && sum == NULL && inputs == 2) {
      const lbb_code code = read_add(node, operands, error);
      if (code != LBB_OK) return code;
      sum = node;
    } else {
      char text[256];
      snprintf(text, sizeof text, "toy adds two inputs of f32; it does not compute '%s' there", node->op);
      return fail(error, LBB_UNSUPPORTED, text);
    }
  }
  if (sum == NULL || graph->output_count != 1 || operands[0] == operands[1])
    return fail(error, LBB_UNSUPPORTED, "toy adds two inputs, and can do nothing else");
  ports[2] = sum;
  *output = graph->outputs[0]->name;
  return LBB_OK;
}

static lbb_executable* make_executable(const lbb_backend* backend, const char* const names[3], const int64_t* dims,
                                       size_t rank, uint32_t requests) {
  lbb_executable* made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->backend = backend;
  made->rank = rank;
  memcpy(made->dims, dims, rank * sizeof *dims);
  for (int i = 0; i < 3; ++i) {
    snprintf(made->names[i], sizeof made->names[i], "%s", names[i]);
    made->infos[i] = (lbb_tensor_info){SIZED(lbb_tensor_info), .name = made->names[i], .type = LBB_F32,
                                       .dims = made->dims, .rank = rank};
  }
  made->inputs[0] = &made->infos[0];
  made->inputs[1] = &made->infos[1];
  made->outputs[0] = &made->infos[2];
  made->active = (lbb_active){SIZED(lbb_active),
                              .precision = LBB_PRECISION_F32,
                              .threads = 1,
                              .requests = requests == 0 ? 2 : requests,
                              .device = "CPU",
                              .full_name = "additions in a loop",
                              .inputs = made->inputs,
                              .input_count = 2,
                              .outputs = made->outputs,
                              .output_count = 1};
  return made;
}

static lbb_code load(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                     lbb_executable** executable, lbb_error* error) {
  if (strcmp(device, "CPU") != 0) return fail(error, LBB_DEVICE_NOT_FOUND, "toy has only the device CPU");
  if (options->input_shape_count > 0) return fail(error, LBB_UNSUPPORTED, "toy compiles for no static shapes");
  if (options->property_count > 0) return fail(error, LBB_UNSUPPORTED, "toy has no properties");
  if (model->graph == NULL) return fail(error, LBB_UNSUPPORTED, "toy reads only graphs");
  const lbb_node* ports[3];
  const char* output = NULL;
  const lbb_code code = check_graph(model->graph, ports, &output, error);
  if (code != LBB_OK) return code;
  const char* const names[3] = {name_of_input(ports[0]), name_of_input(ports[1]), output};
  *executable = make_executable(backend, names, ports[2]->dims, ports[2]->rank, options->requests);
  return *executable != NULL ? LBB_OK : fail(error, LBB_OUT_OF_MEMORY, "toy has no memory for the model");
}

static const lbb_active* describe_executable(lbb_executable* executable) {
  return &executable->active;
}

static void destroy_executable(lbb_executable* executable) {
  free(executable);
}

static int is_mode(const lbb_executable* executable, const char* mode) {
  return strcmp(executable->backend->mode, mode) == 0;
}

/* Waits as the mode says. */
static lbb_code wait_for(const lbb_executable* executable, const lbb_run* run, lbb_error* error) {
  if (is_mode(executable, "poll")) {
    while (run->is_cancelled == NULL || !run->is_cancelled(run)) {
    }
    return fail(error, LBB_CANCELLED, "toy was asked whether it is cancelled");
  }
  if (is_mode(executable, "stop")) {
    while (atomic_load(&stopped_run) != (uintptr_t)run) {
    }
    return fail(error, LBB_CANCELLED, "toy was stopped");
  }
  if (is_mode(executable, "stuck")) {
    while (!atomic_load(&is_released)) {
    }
  }
  return LBB_OK;
}

static size_t count_of(const lbb_tensor* tensor) {
  size_t count = 1;
  for (size_t i = 0; i < tensor->rank; ++i)
    count *= (size_t)tensor->dims[i];
  return count;
}

static lbb_code check_shapes(const lbb_tensor* const* inputs, lbb_error* error) {
  if (inputs[0]->rank == inputs[1]->rank &&
      memcmp(inputs[0]->dims, inputs[1]->dims, inputs[0]->rank * sizeof(int64_t)) == 0)
    return LBB_OK;
  return fail(error, LBB_SHAPE_MISMATCH, "toy adds tensors of one shape");
}

static void add(const float* a, const float* b, float* sum, size_t count) {
  for (size_t i = 0; i < count; ++i)
    sum[i] = a[i] + b[i];
}

static lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                        lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  (void)input_count;
  (void)output_count;
  const lbb_host* host = executable->backend->host;
  lbb_code code = wait_for(executable, run, error);
  if (code == LBB_OK) code = check_shapes(inputs, error);
  if (code != LBB_OK) return code;
  if (is_mode(executable, "fail") || is_mode(executable, "spoil")) {
    if (is_mode(executable, "spoil")) host->spoil(error);
    host->fail_with_vendor(error, 77, "the vendor's own words");
    return fail(error, LBB_DEVICE_FAILED, "toy fails, as it was told to");
  }
  if (is_mode(executable, "forget")) return LBB_OK;
  const int64_t* dims = inputs[0]->dims;
  int64_t other[LBB_RANK_MAX] = {3, 3};
  float* sum = host->prepare_output(outputs[0], is_mode(executable, "type") ? LBB_I32 : LBB_F32,
                                    is_mode(executable, "shape") ? other : dims, inputs[0]->rank);
  if (is_mode(executable, "twice")) sum = host->prepare_output(outputs[0], LBB_F32, dims, inputs[0]->rank);
  if (sum == NULL) return LBB_BUFFER_TOO_SMALL;
  add(inputs[0]->data, inputs[1]->data, sum, count_of(inputs[0]));
  return LBB_OK;
}

#ifndef TOY_CUT
static lbb_code takes(lbb_backend* backend, const lbb_graph* graph, const char* device, const lbb_options* options,
                      lbb_error* error) {
  (void)backend;
  (void)device;
  (void)options;
  const lbb_node* ports[3];
  const char* output = NULL;
  return check_graph(graph, ports, &output, error);
}

static void stop_run(lbb_executable* executable, const lbb_run* run) {
  (void)executable;
  atomic_store(&stopped_run, (uintptr_t)run);
}

/* A blob has the names and the shape of the ports. */
static lbb_code write_blob(lbb_bytes* bytes, lbb_text* compatibility, const lbb_executable* executable) {
  the_host->set_text(compatibility, "toy-" VERSION);
  lbb_code code = the_host->write(bytes, BLOB, sizeof BLOB);
  if (code == LBB_OK) code = the_host->write(bytes, &executable->rank, sizeof executable->rank);
  if (code == LBB_OK) code = the_host->write(bytes, executable->dims, sizeof executable->dims);
  if (code == LBB_OK) code = the_host->write(bytes, executable->names, sizeof executable->names);
  return code;
}

static lbb_code compile(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                        lbb_bytes* bytes, lbb_text* compatibility, lbb_error* error) {
  lbb_executable* made = NULL;
  lbb_code code = load(backend, model, device, options, &made, error);
  if (code == LBB_OK) code = write_blob(bytes, compatibility, made);
  destroy_executable(made);
  return code;
}

static lbb_code check_blob(lbb_backend* backend, const lbb_blob_label* label, const char* device,
                           const lbb_options* options, lbb_error* error) {
  (void)backend;
  (void)options;
  if (strcmp(label->device, device) == 0 && strcmp(label->compatibility, "toy-" VERSION) == 0) return LBB_OK;
  return fail(error, LBB_INCOMPATIBLE_BLOB, "toy did not make this blob");
}

static lbb_code load_blob(lbb_backend* backend, const void* data, uint64_t size, const lbb_blob_label* label,
                          const char* device, const lbb_options* options, lbb_executable** executable,
                          lbb_error* error) {
  (void)label;
  (void)device;
  size_t rank = 0;
  int64_t dims[LBB_RANK_MAX];
  char names[3][64];
  const unsigned char* at = data;
  if (size != sizeof BLOB + sizeof rank + sizeof dims + sizeof names || memcmp(at, BLOB, sizeof BLOB) != 0)
    return fail(error, LBB_INVALID_MODEL, "toy finds the blob damaged");
  at += sizeof BLOB;
  memcpy(&rank, at, sizeof rank);
  memcpy(dims, at + sizeof rank, sizeof dims);
  memcpy(names, at + sizeof rank + sizeof dims, sizeof names);
  if (rank > LBB_RANK_MAX) return fail(error, LBB_INVALID_MODEL, "toy finds the blob damaged");
  for (int i = 0; i < 3; ++i)
    names[i][sizeof names[i] - 1] = '\0';
  const char* const list[3] = {names[0], names[1], names[2]};
  *executable = make_executable(backend, list, dims, rank, options->requests);
  return *executable != NULL ? LBB_OK : fail(error, LBB_OUT_OF_MEMORY, "toy has no memory for the model");
}

static lbb_code export_blob(lbb_executable* executable, lbb_bytes* bytes, lbb_text* compatibility, lbb_error* error) {
  (void)error;
  return write_blob(bytes, compatibility, executable);
}

static void why_not(lbb_backend* backend, const char* device, lbb_text* reason) {
  (void)backend;
  if (strcmp(device, "NPU") == 0) the_host->set_text(reason, "toy has no NPU; take CPU");
}

static void diagnose(lbb_backend* backend, lbb_diagnosis* diagnosis) {
  backend->host->add_search_step(diagnosis, "/opt/toy", "toy's own rule", "no such folder", 0);
  backend->host->add_unavailable(diagnosis, "NPU", "toy has none");
  backend->host->set_install_hint(diagnosis, "nothing: toy is complete");
  backend->host->log(LBB_LOG_WARNING, "toy was diagnosed");
}

static lbb_code create_buffer(lbb_backend* backend, const char* device, uint64_t size, lbb_buffer** buffer,
                              lbb_error* error) {
  (void)backend;
  (void)device;
  lbb_buffer* made = calloc(1, sizeof *made + size);
  if (made == NULL) return fail(error, LBB_OUT_OF_MEMORY, "toy has no memory for a buffer");
  made->size = size;
  *buffer = made;
  return LBB_OK;
}

static void destroy_buffer(lbb_buffer* buffer) {
  free(buffer);
}

static lbb_code write_buffer(lbb_buffer* buffer, uint64_t offset, const void* data, uint64_t size, lbb_error* error) {
  (void)error;
  memcpy(buffer->bytes + offset, data, size);
  return LBB_OK;
}

static lbb_code read_buffer(lbb_buffer* buffer, uint64_t offset, void* data, uint64_t size, lbb_error* error) {
  (void)error;
  memcpy(data, buffer->bytes + offset, size);
  return LBB_OK;
}

static const float* data_of(const lbb_tensor* tensor) {
  const unsigned char* bytes = tensor->buffer != NULL ? tensor->buffer->bytes + tensor->offset : tensor->data;
  return (const float*)(const void*)bytes;
}

static lbb_code execute_to_buffers(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                                   const lbb_tensor* const* outputs, size_t output_count, const lbb_run* run,
                                   lbb_error* error) {
  (void)input_count;
  (void)output_count;
  lbb_code code = wait_for(executable, run, error);
  if (code == LBB_OK) code = check_shapes(inputs, error);
  if (code != LBB_OK) return code;
  add(data_of(inputs[0]), data_of(inputs[1]), (float*)data_of(outputs[0]), count_of(outputs[0]));
  return LBB_OK;
}
#endif

static const char* const modes[] = {"sum",   "poll",   "stop",  "stuck", "fail",
                                    "spoil", "forget", "twice", "type",  "shape"};
static const lbb_setting mode = {SIZED(lbb_setting), .key = "mode",
                                 .value = "MODE",    .help = "What a run does.",
                                 .words = modes,     .word_count = sizeof modes / sizeof *modes};
static const lbb_setting level = {SIZED(lbb_setting), .key = "level", .value = "N", .help = "A number without effect.",
                                  .is_number = 1,     .least = 0,     .most = 9};
static const lbb_setting* const settings[] = {&mode, &level};

static const lbb_table table = {SIZED(lbb_table),
                                .abi = LBB_ABI,
                                .name = "toy",
                                .version = VERSION,
                                .maker = "Latebind's tests",
                                .settings = settings,
                                .setting_count = 2,
                                .create = create,
                                .destroy = destroy,
                                .available = available,
                                .devices = devices,
                                .load = load,
                                .describe_executable = describe_executable,
                                .execute = execute,
                                .destroy_executable = destroy_executable,
#ifndef TOY_CUT
                                .takes = takes,
                                .stop_run = stop_run,
                                .compile = compile,
                                .check_blob = check_blob,
                                .load_blob = load_blob,
                                .export_blob = export_blob,
                                .why_not = why_not,
                                .diagnose = diagnose,
                                .create_buffer = create_buffer,
                                .destroy_buffer = destroy_buffer,
                                .write_buffer = write_buffer,
                                .read_buffer = read_buffer,
                                .execute_to_buffers = execute_to_buffers
#endif
};

LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** to, lbb_error* error);
LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** to, lbb_error* error) {
  if (LBB_ABI < host->abi_least || LBB_ABI > host->abi_most)
    return host->fail(error, LBB_UNSUPPORTED, "toy does not speak this host's versions of the contract");
  the_host = host;
  *to = &table;
  return LBB_OK;
}
