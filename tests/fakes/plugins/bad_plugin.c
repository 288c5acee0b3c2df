/* A plug-in with one fault, which the variable LATEBIND_TEST_FAULT names: the adder of examples/backend-plugin/ with
 * one thing changed. tests/kit/kit_test.py has the faults and what must be said about each. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <time.h>

#define lb_backend_entry adder_entry
#include "examples/backend-plugin/adder.c"
#undef lb_backend_entry

/* Throws a C++ exception (bad_plugin_throw.cpp). */
void bad_plugin_throw(void);

static lbb_table table;
static const lbb_host* host_of_all;

static int is(const char* fault) {
  const char* set = getenv("LATEBIND_TEST_FAULT");
  return set != NULL && strcmp(set, fault) == 0;
}

static void hang(void) {
  for (;;) {
    const struct timespec second = {.tv_sec = 1};
    nanosleep(&second, NULL);
  }
}

static void crash(void) {
  *(volatile int*)NULL = 1;
}

/* What any slot may do. `slot` is the end of the fault's name: "hang.load". */
static void misbehave(const char* slot) {
  char fault[64];
  snprintf(fault, sizeof fault, "hang.%s", slot);
  if (is(fault)) hang();
  snprintf(fault, sizeof fault, "crash.%s", slot);
  if (is(fault)) crash();
  snprintf(fault, sizeof fault, "throw.%s", slot);
  if (is(fault)) bad_plugin_throw();
  snprintf(fault, sizeof fault, "exit.%s", slot);
  if (is(fault)) exit(0);
  snprintf(fault, sizeof fault, "print.%s", slot);
  if (is(fault)) printf("hello from a plug-in\n");
}

static lbb_code bad_create(const lbb_host* host, const lbb_pair* const* settings, size_t count, lbb_backend** backend,
                           lbb_error* error) {
  misbehave("create");
  if (is("create.nothing")) return LBB_OK;
  if (is("create.code")) return 77;
  return create(host, settings, count, backend, error);
}

static void bad_destroy(lbb_backend* backend) {
  misbehave("destroy");
  lbb_backend* volatile again = backend; /* which the compiler does not follow */
  destroy(backend);
  if (is("free.twice")) free(again);
}

static lbb_code bad_available(lbb_backend* backend, lbb_error* error) {
  misbehave("available");
  if (is("available.silent")) return LBB_LIBRARY_NOT_FOUND;
  if (is("message.utf8")) return backend->host->fail(error, LBB_LIBRARY_NOT_FOUND, "no \xff\xfe library");
  return available(backend, error);
}

static lbb_code bad_devices(lbb_backend* backend, lbb_devices* to, lbb_error* error) {
  misbehave("devices");
  static const int32_t precisions[] = {LBB_PRECISION_F32};
  static const int32_t unknown[] = {42};
  lbb_device device = {.struct_size = sizeof device,
                       .name = DEVICE,
                       .kind = LBB_KIND_CPU,
                       .full_name = FULL_NAME,
                       .reads = LBB_READS_GRAPH,
                       .precisions = precisions,
                       .precision_count = 1};
  if (is("devices.none")) return LBB_OK;
  if (is("device.null")) return backend->host->add_device(to, NULL);
  if (is("device.size")) device.struct_size = 4;
  if (is("device.no_name")) device.name = NULL;
  if (is("device.name_utf8")) device.name = "CP\xff";
  if (is("device.kind")) device.kind = 99;
  if (is("device.no_precision")) device.precision_count = 0;
  if (is("device.precision")) device.precisions = unknown;
  if (is("device.reads_nothing")) device.reads = 0;
  if (is("device.count")) device.precision_count = SIZE_MAX;
  const lbb_code code = backend->host->add_device(to, &device);
  if (is("device.twice")) backend->host->add_device(to, &device);
  return code;
  (void)error;
}

static lbb_code bad_load(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                         lbb_executable** executable, lbb_error* error) {
  misbehave("load");
  if (is("load.nothing")) return LBB_OK;
  const lbb_code code = load(backend, model, device, options, executable, error);
  if (code != LBB_OK)
    return is("refuse.code") ? LBB_INTERNAL : is("refuse.silent") ? backend->host->fail(error, code, "no") : code;
  static const int64_t negative[] = {-7, -9};
  lbb_executable* made = *executable;
  if (is("active.requests")) made->active.requests = 0;
  if (is("active.precision")) made->active.precision = 9;
  if (is("active.null_inputs")) made->active.inputs = NULL;
  if (is("active.rank")) made->tensors[0].rank = 99;
  if (is("active.negative")) made->tensors[0].dims = negative;
  if (is("active.type")) made->tensors[2].type = 0;
  if (is("active.device")) made->active.device = NULL;
  if (is("active.count")) made->active.input_count = 3;
  if (is("keep.name")) made->tensors[0].name = name_of(model->graph->nodes[0]);
  return code;
}

static const lbb_active* bad_describe(lbb_executable* executable) {
  misbehave("describe_executable");
  return is("active.null") ? NULL : describe_executable(executable);
}

static lbb_error* kept_error;

static lbb_code bad_execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                            lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  misbehave("execute");
  const lbb_tensor* x = inputs[0];
  if (is("execute.nothing")) return LBB_OK;
  if (is("late.error")) {
    if (kept_error != NULL) executable->host->fail(kept_error, LBB_INTERNAL, "late");
    kept_error = error;
  }
  if (is("output.type")) return executable->host->prepare_output(outputs[0], LBB_I32, x->dims, x->rank), LBB_OK;
  if (is("output.rank")) return executable->host->prepare_output(outputs[0], LBB_F32, x->dims, 99), LBB_OK;
  if (is("output.shape")) {
    const int64_t dims[] = {x->dims[0], x->dims[1] + 1};
    return executable->host->prepare_output(outputs[0], LBB_F32, dims, 2), LBB_OK;
  }
  if (is("input.changed")) ((float*)(uintptr_t)x->data)[0] = 3;
  const lbb_code code = execute(executable, inputs, input_count, outputs, output_count, run, error);
  if (code != LBB_OK) return is("output.ignored") ? LBB_OK : code;
  if (is("output.twice")) executable->host->prepare_output(outputs[0], LBB_F32, x->dims, x->rank);
  return code;
}

/* Writes one number too many, or computes wrongly. */
static lbb_code wrong_execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                              lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  (void)input_count;
  (void)output_count;
  (void)run;
  (void)error;
  const lbb_tensor* x = inputs[0];
  size_t count = 1;
  for (size_t i = 0; i < x->rank; ++i)
    count *= (size_t)x->dims[i];
  float* sum = executable->host->prepare_output(outputs[0], LBB_F32, x->dims, x->rank);
  if (sum == NULL) return LBB_BUFFER_TOO_SMALL;
  const float* a = x->data;
  const float* b = inputs[1]->data;
  for (size_t i = 0; i < count; ++i)
    sum[i] = is("wrong.nan") ? NAN : is("wrong.sum") ? a[i] - b[i] : a[i] + b[i];
  if (is("output.beyond")) sum[count] = 1;
  return LBB_OK;
}

static void leaky_destroy_executable(lbb_executable* executable) {
  misbehave("destroy_executable");
  if (is("leak")) {
    static void* volatile leaked;
    leaked = malloc(1 << 20);
    memset(leaked, 1, 1 << 20);
    return;
  }
  destroy_executable(executable);
}

static void change_table(void) {
  table.create = bad_create;
  table.destroy = bad_destroy;
  table.available = bad_available;
  table.devices = bad_devices;
  table.load = bad_load;
  table.describe_executable = bad_describe;
  table.execute = is("wrong.nan") || is("wrong.sum") || is("output.beyond") ? wrong_execute : bad_execute;
  table.destroy_executable = leaky_destroy_executable;
  table.takes = NULL;
  if (is("table.small")) table.struct_size = 16;
  if (is("table.huge")) table.struct_size = SIZE_MAX;
  if (is("table.no_load")) table.load = NULL;
  if (is("table.no_destroy")) table.destroy = NULL;
  if (is("table.abi")) table.abi = 99;
  if (is("table.no_name")) table.name = NULL;
  if (is("table.name")) table.name = "Not A Name";
  if (is("table.name_utf8")) table.name = "a\xff";
  if (is("table.no_version")) table.version = NULL;
  if (is("table.settings")) table.setting_count = 5;
  if (is("table.half_blobs"))
    table.check_blob = (lbb_code(*)(lbb_backend*, const lbb_blob_label*, const char*, const lbb_options*, lbb_error*))(
        void (*)(void))bad_available;
}

LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** to, lbb_error* error) {
  misbehave("entry");
  host_of_all = host;
  if (is("entry.nothing")) return LBB_OK;
  if (is("entry.any_host")) {
    table = kTable;
    *to = &table;
    return LBB_OK;
  }
  const lbb_table* adder = NULL;
  const lbb_code code = adder_entry(host, &adder, error);
  if (code != LBB_OK) return code;
  table = *adder;
  change_table();
  *to = &table;
  return LBB_OK;
}
