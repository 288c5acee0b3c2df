/* A plug-in that adds two tensors: the smallest backend that does everything the contract requires.
 *
 * It takes graphs with two inputs of type f32 and one shape, whose output is their sum, and refuses everything else by
 * name. Copy it, change the names, and replace the parts marked "Yours". docs/writing-a-plugin.md explains each step,
 * and `latebind-conformance` checks the result.
 */
#include <latebind/latebind_backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ADDER_VERSION /* CMakeLists.txt defines it. */
#define ADDER_VERSION "1.0.0"
#endif
#define DEVICE "CPU"
#define FULL_NAME "additions in a loop"

struct lbb_backend {
  const lbb_host* host;
};

/* A loaded model. Its inputs and output have one shape, whose unknown dimensions are LBB_DYNAMIC. */
struct lbb_executable {
  const lbb_host* host;
  int64_t dims[LBB_RANK_MAX];
  char* names[3];
  lbb_tensor_info tensors[3];
  const lbb_tensor_info* pointers[3]; /* the inputs, then the output */
  lbb_active active;
};

/* Says what is wrong, in one line, and returns `code`. */
static lbb_code refuse(const lbb_host* host, lbb_error* error, lbb_code code, const char* what, const char* name) {
  char text[512];
  snprintf(text, sizeof text, "%s: '%s'", what, name);
  return host->fail(error, code, text);
}

static lbb_code create(const lbb_host* host, const lbb_pair* const* settings, size_t count, lbb_backend** backend,
                       lbb_error* error) {
  (void)settings; /* The table below declares none. */
  (void)count;
  lbb_backend* made = malloc(sizeof *made);
  if (made == NULL) return host->fail(error, LBB_OUT_OF_MEMORY, "no memory for the plug-in's state");
  made->host = host;
  *backend = made;
  return LBB_OK;
}

static void destroy(lbb_backend* backend) {
  free(backend);
}

/* Yours: open the vendor's library here, and say what to install when it is missing. */
static lbb_code available(lbb_backend* backend, lbb_error* error) {
  (void)backend;
  (void)error;
  return LBB_OK;
}

/* Yours: ask the vendor's library for its devices. */
static lbb_code devices(lbb_backend* backend, lbb_devices* devices, lbb_error* error) {
  static const int32_t precisions[] = {LBB_PRECISION_F32};
  lbb_device device = {.struct_size = sizeof device,
                       .name = DEVICE,
                       .kind = LBB_KIND_CPU,
                       .full_name = FULL_NAME,
                       .reads = LBB_READS_GRAPH,
                       .precisions = precisions,
                       .precision_count = 1};
  const lbb_code code = backend->host->add_device(devices, &device);
  return code == LBB_OK ? LBB_OK : backend->host->fail(error, code, "the host does not take the device");
}

static int is_same_shape(const lbb_node* a, const lbb_node* b) {
  return a->rank == b->rank && (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

static const char* name_of(const lbb_node* input) {
  for (size_t i = 0; i < input->argument_count; ++i) {
    if (strcmp(input->arguments[i]->name, "name") == 0) return input->arguments[i]->text;
  }
  return "";
}

/* Yours: says whether the graph can be computed. A name that is not known is refused, be it an operator or an argument:
 * it changes what the graph computes. */
static lbb_code takes(lbb_backend* backend, const lbb_graph* graph, const char* device, const lbb_options* options,
                      lbb_error* error) {
  const lbb_host* host = backend->host;
  if (strcmp(device, DEVICE) != 0) return refuse(host, error, LBB_DEVICE_NOT_FOUND, "the only device is CPU", device);
  if (options->precision != LBB_PRECISION_F32) return host->fail(error, LBB_UNSUPPORTED, "the only precision is f32");
  if (options->input_shape_count != 0) return host->fail(error, LBB_UNSUPPORTED, "static shapes are not supported");
  if (options->property_count != 0) {
    return refuse(host, error, LBB_UNSUPPORTED, "there is no such property", options->properties[0]->key);
  }
  size_t inputs = 0;
  const lbb_node* first = NULL;
  for (size_t i = 0; i < graph->node_count; ++i) {
    const lbb_node* node = graph->nodes[i];
    if (strcmp(node->op, "input") == 0) {
      if (node->type != LBB_F32) return refuse(host, error, LBB_UNSUPPORTED, "an input is not f32", name_of(node));
      if (first != NULL && !is_same_shape(first, node)) {
        return refuse(host, error, LBB_UNSUPPORTED, "an input has another shape than the first one", name_of(node));
      }
      first = first == NULL ? node : first;
      ++inputs;
      continue;
    }
    if (strcmp(node->op, "add") != 0) return refuse(host, error, LBB_UNSUPPORTED, "operator not supported", node->op);
    for (size_t j = 0; j < node->argument_count; ++j) {
      const char* name = node->arguments[j]->name;
      if (strcmp(name, "a") == 0 || strcmp(name, "b") == 0) continue;
      return refuse(host, error, LBB_UNSUPPORTED, "argument of the operator add not supported", name);
    }
    if (node->argument_count != 2 || node->arguments[0]->index == node->arguments[1]->index) {
      return host->fail(error, LBB_UNSUPPORTED, "the operator add of one value to itself is not supported");
    }
  }
  if (inputs != 2 || graph->node_count != 3 || graph->output_count != 1 || graph->outputs[0]->node != 2) {
    return host->fail(error, LBB_UNSUPPORTED, "only one operator add of two inputs is supported");
  }
  return LBB_OK;
}

static void destroy_executable(lbb_executable* executable) {
  if (executable == NULL) return;
  for (size_t i = 0; i < 3; ++i)
    free(executable->names[i]);
  free(executable);
}

/* Keeps what it needs of the graph, which is valid only until load() returns. */
static lbb_code load(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                     lbb_executable** executable, lbb_error* error) {
  const lbb_host* host = backend->host;
  const lbb_graph* graph = model->graph;
  if (graph == NULL) return refuse(host, error, LBB_UNSUPPORTED, "the model has no graph", model->name);
  const lbb_code code = takes(backend, graph, device, options, error);
  if (code != LBB_OK) return code;

  lbb_executable* made = calloc(1, sizeof *made);
  if (made == NULL) return host->fail(error, LBB_OUT_OF_MEMORY, "no memory for the model");
  made->host = host;
  const lbb_node* sum = graph->nodes[2];
  if (sum->rank != 0) memcpy(made->dims, sum->dims, sum->rank * sizeof *sum->dims);
  for (size_t i = 0; i < 3; ++i) {
    const char* name = i < 2 ? name_of(graph->nodes[i]) : graph->outputs[0]->name;
    made->names[i] = malloc(strlen(name) + 1);
    if (made->names[i] == NULL) {
      destroy_executable(made);
      return host->fail(error, LBB_OUT_OF_MEMORY, "no memory for the model");
    }
    strcpy(made->names[i], name);
    made->tensors[i] = (lbb_tensor_info){.struct_size = sizeof made->tensors[i],
                                         .name = made->names[i],
                                         .type = LBB_F32,
                                         .dims = made->dims,
                                         .rank = sum->rank};
    made->pointers[i] = &made->tensors[i];
  }
  made->active = (lbb_active){.struct_size = sizeof made->active,
                              .precision = LBB_PRECISION_F32,
                              .threads = 1,
                              .requests = options->requests == 0 ? 64 : options->requests,
                              .device = DEVICE,
                              .full_name = FULL_NAME,
                              .inputs = made->pointers,
                              .input_count = 2,
                              .outputs = made->pointers + 2,
                              .output_count = 1,
                              .compiles_nothing = 1};
  *executable = made;
  return LBB_OK;
}

static const lbb_active* describe_executable(lbb_executable* executable) {
  return &executable->active;
}

/* Yours: compute. */
static lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                        lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  (void)input_count; /* The host has checked counts, types and shapes against describe_executable(). */
  (void)output_count;
  (void)run; /* A run is short, so it need not watch the deadline. */
  const lbb_tensor* x = inputs[0];
  const float* a = x->data;
  const float* b = inputs[1]->data;
  size_t count = 1;
  for (size_t i = 0; i < x->rank; ++i) {
    if (x->dims[i] != inputs[1]->dims[i]) {
      return executable->host->fail(error, LBB_SHAPE_MISMATCH, "the inputs must have the same shape");
    }
    count *= (size_t)x->dims[i];
  }
  float* sum = executable->host->prepare_output(outputs[0], LBB_F32, x->dims, x->rank);
  if (sum == NULL) return executable->host->fail(error, LBB_BUFFER_TOO_SMALL, "the output is larger than its memory");
  for (size_t i = 0; i < count; ++i)
    sum[i] = a[i] + b[i];
  return LBB_OK;
}

static const lbb_table kTable = {.struct_size = sizeof kTable,
                                 .abi = LBB_ABI,
                                 .name = "adder",
                                 .version = ADDER_VERSION,
                                 .maker = "Latebind's examples",
                                 .create = create,
                                 .destroy = destroy,
                                 .available = available,
                                 .devices = devices,
                                 .load = load,
                                 .describe_executable = describe_executable,
                                 .execute = execute,
                                 .destroy_executable = destroy_executable,
                                 .takes = takes};

LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error) {
  if (host->abi_least > LBB_ABI || host->abi_most < LBB_ABI) {
    return host->fail(error, LBB_UNSUPPORTED, "this plug-in needs version 1 of Latebind's contract for plug-ins");
  }
  *table = &kTable;
  return LBB_OK;
}
