/* A plug-in that runs embedding models such as all-MiniLM-L6-v2, layer by layer in plain loops.
 *
 * It is what adder.c becomes when it computes models. operators.c computes the operators that a BERT needs; here are
 * the plug-in and its models: a list of steps, one for each node of the graph, which a run computes one after the
 * other. What is not in the table of operators is refused by name. Without CMake:
 *
 *   cc -std=c11 -O3 -fPIC -fvisibility=hidden -shared -I LATEBIND/include layers.c operators.c -o liblayers.so -lm
 */
#include "layers.h"

#include <latebind/latebind_backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE "CPU"
#define FULL_NAME "layers in plain loops"

struct lbb_backend {
  const lbb_host* host;
};

struct lbb_executable {
  const lbb_host* host;
  step* steps;
  size_t step_count;
  size_t* results; /* the nodes of the outputs */
  /* The inputs, then the outputs. */
  size_t tensor_count;
  char** names;
  shape* shapes;
  lbb_tensor_info* tensors;
  const lbb_tensor_info** pointers;
  lbb_active active;
};

/* -- Models -------------------------------------------------------------------------------------------------------- */

/* Says what is wrong, in one line, and returns `code`. */
static lbb_code refuse(const lbb_host* host, lbb_error* error, lbb_code code, const char* what, const char* name) {
  char text[512];
  snprintf(text, sizeof text, "%s: '%s'", what, name);
  return host->fail(error, code, text);
}

static int is_input(const lbb_node* node) {
  return strcmp(node->op, "input") == 0;
}

/* The place of a name in one of the lists of an operator; -1 when it is not there. */
static int place_of(const char* name, const char* const* names, int count) {
  for (int i = 0; i < count; ++i) {
    if (names[i] != NULL && strcmp(names[i], name) == 0) return i;
  }
  return -1;
}

/* Whether the operator is computed with this argument. */
static int is_known(const operation* op, const lbb_argument* argument) {
  const char* name = argument->name;
  switch (argument->kind) {
    case LBB_VALUE:
      return place_of(name, op->values, VALUES_MAX) >= 0;
    case LBB_WEIGHT:
      return place_of(name, op->weights, WEIGHTS_MAX) >= 0;
    case LBB_INTEGER:
      return place_of(name, op->integers, INTEGERS_MAX) >= 0;
    case LBB_NUMBER:
      return place_of(name, &op->number, 1) >= 0;
    case LBB_TEXT:
      return place_of(name, &op->text, 1) >= 0 && strcmp(argument->text, op->word) == 0;
    default:
      return 0;
  }
}

/* Keeps a known argument. Returns 0 when the bytes of a weight cannot be read. */
static int keep(const lbb_host* host, const lbb_graph* graph, const lbb_argument* argument, step* to) {
  const operation* op = to->op;
  if (argument->kind == LBB_VALUE) to->values[place_of(argument->name, op->values, VALUES_MAX)] = argument->index;
  if (argument->kind == LBB_INTEGER)
    to->integers[place_of(argument->name, op->integers, INTEGERS_MAX)] = argument->integer;
  if (argument->kind == LBB_NUMBER) to->number = argument->number;
  if (argument->kind != LBB_WEIGHT) return 1;
  const lbb_weight* given = graph->weights[argument->index];
  weight* kept = &to->weights[place_of(argument->name, op->weights, WEIGHTS_MAX)];
  kept->shape.rank = given->rank;
  memcpy(kept->shape.dims, given->dims, given->rank * sizeof *given->dims);
  /* Stays where it is until destroy_executable(). */
  kept->bytes = host->weight(graph, argument->index);
  return kept->bytes != NULL;
}

static lbb_code takes(lbb_backend* backend, const lbb_graph* graph, const char* device, const lbb_options* options,
                      lbb_error* error) {
  const lbb_host* host = backend->host;
  if (strcmp(device, DEVICE) != 0) return refuse(host, error, LBB_DEVICE_NOT_FOUND, "the only device is CPU", device);
  if (options->precision != LBB_PRECISION_F32) return host->fail(error, LBB_UNSUPPORTED, "the only precision is f32");
  if (options->input_shape_count != 0) return host->fail(error, LBB_UNSUPPORTED, "static shapes are not supported");
  if (options->property_count != 0) {
    return refuse(host, error, LBB_UNSUPPORTED, "there is no such property", options->properties[0]->key);
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    const lbb_node* node = graph->nodes[i];
    if (is_input(node)) continue;
    const operation* op = find_operation(node->op);
    if (op == NULL) return refuse(host, error, LBB_UNSUPPORTED, "operator not supported", node->op);
    for (size_t j = 0; j < node->argument_count; ++j) {
      const lbb_argument* argument = node->arguments[j];
      if (!is_known(op, argument)) {
        char what[128];
        snprintf(what, sizeof what, "argument of the operator %s not supported", op->name);
        const char* name = argument->kind == LBB_TEXT ? argument->text : argument->name;
        return refuse(host, error, LBB_UNSUPPORTED, what, name);
      }
      if (argument->kind == LBB_WEIGHT && graph->weights[argument->index]->type != LBB_F32) {
        return refuse(host, error, LBB_UNSUPPORTED, "a weight is not f32", graph->weights[argument->index]->name);
      }
    }
  }
  for (size_t i = 0; i < graph->output_count; ++i) {
    if (is_input(graph->nodes[graph->outputs[i]->node])) {
      return refuse(host, error, LBB_UNSUPPORTED, "an output is an input", graph->outputs[i]->name);
    }
  }
  return LBB_OK;
}

static void destroy_executable(lbb_executable* executable) {
  if (executable == NULL) return;
  for (size_t i = 0; executable->names != NULL && i < executable->tensor_count; ++i)
    free(executable->names[i]);
  free(executable->steps);
  free(executable->results);
  free(executable->names);
  free(executable->shapes);
  free(executable->tensors);
  free(executable->pointers);
  free(executable);
}

/* Describes the next input or output. */
static int add_tensor(lbb_executable* made, const char* name, const lbb_node* node) {
  const size_t i = made->tensor_count++;
  made->names[i] = malloc(strlen(name) + 1);
  if (made->names[i] == NULL) return 0;
  strcpy(made->names[i], name);
  made->shapes[i].rank = node->rank;
  if (node->rank != 0) memcpy(made->shapes[i].dims, node->dims, node->rank * sizeof *node->dims);
  made->tensors[i] = (lbb_tensor_info){.struct_size = sizeof made->tensors[i],
                                       .name = made->names[i],
                                       .type = node->type,
                                       .dims = made->shapes[i].dims,
                                       .rank = node->rank};
  made->pointers[i] = &made->tensors[i];
  return 1;
}

/* Keeps nodes, inputs and outputs. Returns NULL, or what is wrong. */
static const char* build(lbb_executable* made, const lbb_graph* graph) {
  const size_t most = graph->node_count + graph->output_count;
  made->step_count = graph->node_count;
  made->steps = calloc(graph->node_count + 1, sizeof *made->steps);
  made->results = calloc(graph->output_count + 1, sizeof *made->results);
  made->names = calloc(most + 1, sizeof *made->names);
  made->shapes = calloc(most + 1, sizeof *made->shapes);
  made->tensors = calloc(most + 1, sizeof *made->tensors);
  made->pointers = calloc(most + 1, sizeof *made->pointers);
  if (made->steps == NULL || made->results == NULL || made->names == NULL || made->shapes == NULL ||
      made->tensors == NULL || made->pointers == NULL) {
    return NO_MEMORY;
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    const lbb_node* node = graph->nodes[i];
    made->steps[i].op = find_operation(node->op);
    for (size_t j = 0; j < node->argument_count; ++j) {
      const lbb_argument* argument = node->arguments[j];
      if (is_input(node)) {
        if (strcmp(argument->name, "name") == 0 && !add_tensor(made, argument->text, node)) return NO_MEMORY;
      } else if (!keep(made->host, graph, argument, &made->steps[i])) {
        return "the bytes of a weight cannot be read";
      }
    }
  }
  made->active.input_count = made->tensor_count;
  for (size_t i = 0; i < graph->output_count; ++i) {
    made->results[i] = graph->outputs[i]->node;
    if (!add_tensor(made, graph->outputs[i]->name, graph->nodes[made->results[i]])) return NO_MEMORY;
  }
  made->active.output_count = graph->output_count;
  made->active.inputs = made->pointers;
  made->active.outputs = made->pointers + made->active.input_count;
  return NULL;
}

static lbb_code load(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                     lbb_executable** executable, lbb_error* error) {
  const lbb_host* host = backend->host;
  if (model->graph == NULL) return refuse(host, error, LBB_UNSUPPORTED, "the model has no graph", model->name);
  const lbb_code code = takes(backend, model->graph, device, options, error);
  if (code != LBB_OK) return code;
  lbb_executable* made = calloc(1, sizeof *made);
  if (made == NULL) return host->fail(error, LBB_OUT_OF_MEMORY, NO_MEMORY);
  made->host = host;
  made->active = (lbb_active){.struct_size = sizeof made->active,
                              .precision = LBB_PRECISION_F32,
                              .threads = 1,
                              .requests = options->requests == 0 ? 64 : options->requests,
                              .device = DEVICE,
                              .full_name = FULL_NAME,
                              .compiles_nothing = 1};
  const char* wrong = build(made, model->graph);
  if (wrong != NULL) {
    destroy_executable(made);
    return host->fail(error, strcmp(wrong, NO_MEMORY) == 0 ? LBB_OUT_OF_MEMORY : LBB_IO, wrong);
  }
  *executable = made;
  return LBB_OK;
}

static const lbb_active* describe_executable(lbb_executable* executable) {
  return &executable->active;
}

/* Computes all values in their order. */
static lbb_code compute(const lbb_executable* executable, const lbb_tensor* const* inputs, const lbb_run* run,
                        value* all, lbb_error* error) {
  const lbb_host* host = executable->host;
  for (size_t i = 0; i < executable->step_count; ++i) {
    const step* s = &executable->steps[i];
    if (run->is_cancelled != NULL && run->is_cancelled(run)) return host->fail(error, LBB_CANCELLED, "cancelled");
    if (s->op == NULL) {
      const lbb_tensor* input = *inputs++;
      all[i].shape.rank = input->rank;
      if (input->rank != 0) memcpy(all[i].shape.dims, input->dims, input->rank * sizeof *input->dims);
      all[i].count = count_of(&all[i].shape);
      all[i].data = input->data;
      continue;
    }
    const char* wrong = s->op->compute(s, all, &all[i]);
    if (wrong != NULL) {
      return host->fail(error, strcmp(wrong, NO_MEMORY) == 0 ? LBB_OUT_OF_MEMORY : LBB_INVALID_ARGUMENT, wrong);
    }
  }
  return LBB_OK;
}

/* Whether two inputs have the same sizes where the model leaves them open. */
static int has_sizes_of(const shape* declared, const lbb_tensor* a, const lbb_tensor* b) {
  for (size_t i = 0; i < a->rank && a->rank == b->rank; ++i) {
    if (declared->dims[i] == LBB_DYNAMIC && a->dims[i] != b->dims[i]) return 0;
  }
  return 1;
}

static lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                        lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  const lbb_host* host = executable->host;
  for (size_t i = 1; i < input_count; ++i) {
    if (!has_sizes_of(&executable->shapes[0], inputs[0], inputs[i])) {
      return host->fail(error, LBB_SHAPE_MISMATCH, "the inputs must have the same numbers of texts and tokens");
    }
  }
  value* all = calloc(executable->step_count + 1, sizeof *all);
  if (all == NULL) return host->fail(error, LBB_OUT_OF_MEMORY, NO_MEMORY);
  lbb_code code = compute(executable, inputs, run, all, error);
  for (size_t i = 0; code == LBB_OK && i < output_count; ++i) {
    const value* result = &all[executable->results[i]];
    float* to = host->prepare_output(outputs[i], LBB_F32, result->shape.dims, result->shape.rank);
    if (to == NULL) {
      code = host->fail(error, LBB_BUFFER_TOO_SMALL, "the output is larger than its memory");
    } else {
      memcpy(to, result->own, result->count * sizeof *to);
    }
  }
  for (size_t i = 0; i < executable->step_count; ++i)
    free(all[i].own);
  free(all);
  return code;
}

/* -- The plug-in --------------------------------------------------------------------------------------------------- */

static lbb_code create(const lbb_host* host, const lbb_pair* const* settings, size_t count, lbb_backend** backend,
                       lbb_error* error) {
  (void)settings;
  (void)count;
  lbb_backend* made = malloc(sizeof *made);
  if (made == NULL) return host->fail(error, LBB_OUT_OF_MEMORY, NO_MEMORY);
  made->host = host;
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

static const lbb_table kTable = {.struct_size = sizeof kTable,
                                 .abi = LBB_ABI,
                                 .name = "layers",
                                 .version = "1.0.0",
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
