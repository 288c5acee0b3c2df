/* A PJRT plug-in with one fault, which the definition FAULT_… names, for tests of how plug-ins are opened. Without a
 * fault, it has a platform "fake" with two devices, and compiles nothing. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define FUNCTIONS 71

/* Of all structs: a size, and a list of extensions. */
struct head {
  size_t size;
  void* extensions;
};
struct handle_args {
  struct head head;
  void* handle;
  void* out;
};
struct text_args {
  struct head head;
  void* handle;
  const char* text;
  size_t length;
};
struct list_args {
  struct head head;
  void* handle;
  void* const* items;
  size_t count;
};
struct code_args {
  struct head head;
  void* error;
  int code;
};
struct client_args {
  struct head head;
  const void* options;
  size_t option_count;
  void* store[4];
  void* client;
};
struct error {
  int code;
  const char* text;
};

static struct table {
  struct head head;
  struct head version;
  int major;
  int minor;
  void* functions[FUNCTIONS];
} table;

static struct error failure;
static int things[4];

static void* fail(int code, const char* text) {
  failure.code = code;
  failure.text = text;
  return &failure;
}

static void* nothing(void* args) {
  (void)args;
  return NULL;
}

/* As plug-ins of XLA do: a struct that is too small is refused. */
static void* check_size(const struct head* head, size_t wanted) {
  return head->size == wanted ? NULL : fail(3, "a struct has another size");
}

static void* get_message(void* args) {
  struct text_args* to = args;
  to->text = ((const struct error*)to->handle)->text;
  to->length = strlen(to->text);
  return NULL;
}

static void* get_code(void* args) {
  struct code_args* to = args;
  to->code = ((const struct error*)to->error)->code;
  return NULL;
}

static void* initialize(void* args) {
#ifdef FAULT_INITIALIZE
  (void)args;
  return fail(9, "no driver\nof that name");
#else
  return check_size(args, 16);
#endif
}

static void* create_client(void* args) {
#ifdef FAULT_CLIENT
  (void)args;
  return fail(9, "No visible GPU devices.");
#else
  struct client_args* to = args;
  to->client = &things[0];
  return check_size(args, 88);
#endif
}

static void* platform_name(void* args) {
  struct text_args* to = args;
  to->text = "fake";
  to->length = 4;
  return check_size(args, 40);
}

static void* devices(void* args) {
  static void* const list[] = {&things[1], &things[2]};
  struct list_args* to = args;
  to->items = list;
#ifdef FAULT_DEVICES
  to->count = 0;
#else
  to->count = 2;
#endif
  return check_size(args, 40);
}

static void* description(void* args) {
  struct handle_args* to = args;
  to->out = to->handle;
  return check_size(args, 32);
}

static void* kind(void* args) {
  struct text_args* to = args;
  to->text = "Fake 9000";
  to->length = 9;
  return check_size(args, 40);
}

static void* compile(void* args) {
  (void)args;
  return fail(8, "Out of memory allocating 17 bytes");
}

#ifdef FAULT_ENTRY
#define GetPjrtApi GetAnotherApi
#endif

EXPORT void* GetPjrtApi(void);
EXPORT void* GetPjrtApi(void) {
#ifdef FAULT_TABLE
  return NULL;
#endif
  table.head.size = sizeof table;
#ifdef FAULT_SIZE
  table.head.size = 300;
#endif
  table.major = 0;
  table.minor = 90;
#ifdef FAULT_VERSION
  table.minor = 40;
#endif
  for (size_t i = 0; i < FUNCTIONS; ++i)
    table.functions[i] = (void*)(uintptr_t)nothing;
  table.functions[1] = (void*)(uintptr_t)get_message;
  table.functions[2] = (void*)(uintptr_t)get_code;
  table.functions[3] = (void*)(uintptr_t)initialize;
  table.functions[10] = (void*)(uintptr_t)create_client;
  table.functions[12] = (void*)(uintptr_t)platform_name;
  table.functions[14] = (void*)(uintptr_t)platform_name;
  table.functions[16] = (void*)(uintptr_t)devices;
  table.functions[20] = (void*)(uintptr_t)compile;
  table.functions[26] = (void*)(uintptr_t)kind;
  table.functions[29] = (void*)(uintptr_t)description;
#ifdef FAULT_FUNCTION
  table.functions[55] = NULL;
#endif
  return &table;
}
