/* moody: a plug-in in plain C that adds two f32 inputs of one shape, and whose moods the environment sets, so that a
 * process and its child can have different ones.
 *
 * MOODY_NAME and MOODY_VERSION are set where it is compiled. LATEBIND_FAKE_PLUGIN holds words with blanks between:
 * crash_in_SLOT, hang_in_SLOT and exit_in_SLOT (entry, create, available, devices, load, execute), no_driver,
 * new_driver and wrong. The setting `speed` changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "latebind/latebind_backend.h"

struct lbb_backend {
  const lbb_host* host;
};

struct lbb_executable {
  const lbb_host* host;
  char* names[3];
  int64_t dims[3][LBB_RANK_MAX];
  lbb_tensor_info infos[3];
  const lbb_tensor_info* inputs[2];
  const lbb_tensor_info* outputs[1];
  lbb_active active;
};

static const lbb_host* g_host;

static int is_told(const char* word) {
  const char* told = getenv("LATEBIND_FAKE_PLUGIN");
  const char* at = told != NULL ? strstr(told, word) : NULL;
  return at != NULL && (at[strlen(word)] == ' ' || at[strlen(word)] == '\0');
}

/* Does what the variable says for this place: "crash_in_load", "hang_in_load", "exit_in_load". */
static void misbehave_in(const char* place) {
  char word[64];
  (void)snprintf(word, sizeof word, "crash_in_%s", place);
  if (is_told(word)) abort();
  (void)snprintf(word, sizeof word, "hang_in_%s", place);
  while (is_told(word))
    (void)sleep(1);
  (void)snprintf(word, sizeof word, "exit_in_%s", place);
  if (is_told(word)) _exit(7);
}

static lbb_code create(const lbb_host* host, const lbb_pair* const* settings, size_t count, lbb_backend** backend,
                       lbb_error* error) {
  (void)settings;
  (void)count;
  misbehave_in("create");
  *backend = calloc(1, sizeof **backend);
  if (*backend == NULL) return host->fail(error, LBB_OUT_OF_MEMORY, "no memory");
  (*backend)->host = host;
  return LBB_OK;
}

static void destroy(lbb_backend* backend) {
  free(backend);
}

static lbb_code available(lbb_backend* backend, lbb_error* error) {
  misbehave_in("available");
  if (is_told("no_driver"))
    return backend->host->fail(error, LBB_LIBRARY_NOT_FOUND, "moody's driver is missing: install moody-driver");
  return LBB_OK;
}

static lbb_code devices(lbb_backend* backend, lbb_devices* list, lbb_error* error) {
  static const int32_t precisions[] = {LBB_PRECISION_F32};
  lbb_device device;
  (void)error;
  misbehave_in("devices");
  (void)printf("noise on standard output\n");
  (void)fflush(stdout);
  memset(&device, 0, sizeof device);
  device.struct_size = sizeof device;
  device.name = "CPU";
  device.kind = LBB_KIND_CPU;
  device.full_name = "additions in a loop";
  device.runtime_version = is_told("new_driver") ? "2.0" : "1.0";
  device.reads = LBB_READS_GRAPH;
  device.precisions = precisions;
  device.precision_count = 1;
  return backend->host->add_device(list, &device);
}

static void destroy_executable(lbb_executable* executable) {
  int i;
  for (i = 0; i < 3; ++i)
    free(executable->names[i]);
  free(executable);
}

static char* copied(const char* text) {
  char* copy = malloc(strlen(text) + 1);
  if (copy != NULL) strcpy(copy, text);
  return copy;
}

/* Describes the tensor that a node computes. Returns 0 when there is no memory. */
static int describe_node(lbb_executable* executable, int which, const lbb_node* node, const char* name) {
  size_t i;
  lbb_tensor_info* info = &executable->infos[which];
  executable->names[which] = copied(name);
  for (i = 0; i < node->rank; ++i)
    executable->dims[which][i] = node->dims[i];
  info->struct_size = sizeof *info;
  info->name = executable->names[which];
  info->type = node->type;
  info->dims = executable->dims[which];
  info->rank = node->rank;
  return executable->names[which] != NULL;
}

static const char* name_of_input(const lbb_node* node) {
  size_t i;
  for (i = 0; i < node->argument_count; ++i) {
    if (node->arguments[i]->kind == LBB_TEXT) return node->arguments[i]->text;
  }
  return "";
}

static lbb_code load(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                     lbb_executable** executable, lbb_error* error) {
  const lbb_graph* graph = model->graph;
  lbb_executable* made;
  int good;
  misbehave_in("load");
  if (strcmp(device, "CPU") != 0)
    return backend->host->fail(error, LBB_DEVICE_NOT_FOUND, "moody has the device CPU alone");
  if (options->property_count > 0 || options->input_shape_count > 0)
    return backend->host->fail(error, LBB_UNSUPPORTED, "moody takes no properties and no static shapes");
  if (graph == NULL || graph->node_count != 3 || graph->output_count != 1 || strcmp(graph->nodes[2]->op, "add") != 0 ||
      strcmp(graph->nodes[1]->op, "input") != 0 || graph->nodes[1]->type != LBB_F32)
    return backend->host->fail(error, LBB_UNSUPPORTED, "moody adds two inputs of f32, and can do nothing else");
  made = calloc(1, sizeof *made);
  if (made == NULL) return backend->host->fail(error, LBB_OUT_OF_MEMORY, "no memory");
  made->host = backend->host;
  good = describe_node(made, 0, graph->nodes[0], name_of_input(graph->nodes[0])) &&
         describe_node(made, 1, graph->nodes[1], name_of_input(graph->nodes[1])) &&
         describe_node(made, 2, graph->nodes[2], graph->outputs[0]->name);
  if (!good) {
    destroy_executable(made);
    return backend->host->fail(error, LBB_OUT_OF_MEMORY, "no memory");
  }
  made->inputs[0] = &made->infos[0];
  made->inputs[1] = &made->infos[1];
  made->outputs[0] = &made->infos[2];
  made->active.struct_size = sizeof made->active;
  made->active.precision = LBB_PRECISION_F32;
  made->active.threads = 1;
  made->active.requests = 1;
  made->active.device = "CPU";
  made->active.full_name = "additions in a loop";
  made->active.inputs = made->inputs;
  made->active.input_count = 2;
  made->active.outputs = made->outputs;
  made->active.output_count = 1;
  *executable = made;
  return LBB_OK;
}

static const lbb_active* describe_executable(lbb_executable* executable) {
  return &executable->active;
}

static lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                        lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  size_t i;
  size_t count = 1;
  const float* x = inputs[0]->data;
  const float* y = inputs[1]->data;
  float* z;
  (void)input_count;
  (void)output_count;
  (void)run;
  (void)error;
  misbehave_in("execute");
  for (i = 0; i < inputs[0]->rank; ++i)
    count *= (size_t)inputs[0]->dims[i];
  z = executable->host->prepare_output(outputs[0], LBB_F32, inputs[0]->dims, inputs[0]->rank);
  if (z == NULL) return LBB_BUFFER_TOO_SMALL;
  for (i = 0; i < count; ++i)
    z[i] = is_told("wrong") ? x[i] : x[i] + y[i];
  return LBB_OK;
}

static const char* const kSpeeds[] = {"slow", "fast"};
static const lbb_setting kSpeed = {sizeof(lbb_setting), "speed", "slow|fast", "Changes nothing.", kSpeeds, 2, 0, 0, 0};
static const lbb_setting* const kSettings[] = {&kSpeed};

static const lbb_table kTable = {.struct_size = sizeof(lbb_table),
                                 .abi = LBB_ABI,
                                 .name = MOODY_NAME,
                                 .version = MOODY_VERSION,
                                 .maker = "Latebind's tests",
                                 .settings = kSettings,
                                 .setting_count = 1,
                                 .create = create,
                                 .destroy = destroy,
                                 .available = available,
                                 .devices = devices,
                                 .load = load,
                                 .describe_executable = describe_executable,
                                 .execute = execute,
                                 .destroy_executable = destroy_executable};

LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error) {
  (void)error;
  misbehave_in("entry");
  g_host = host;
  *table = &kTable;
  return LBB_OK;
}
