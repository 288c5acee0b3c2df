/* Latebind's C interface: everything that is public.
 *
 * Rules that hold for every function here:
 *
 * - Errors. A function that can fail returns an lb_code: LB_OK, or the code of the error. The whole error (message,
 *   vendor's code and text) is kept for the calling thread until its next failing call: lb_last_error(). No exception
 *   leaves the library, and it never prints, aborts or exits.
 * - Ownership. What an lb_…_create, lb_…_open or lb_…_load function returns belongs to the caller: pass it to the
 *   matching lb_…_destroy once. Destroying NULL does nothing. Pointers inside structs that a function fills belong to
 *   the object they came from and live as long as it does. Objects may be destroyed in any order.
 * - Threads. Every object may be used from many threads at once, except lb_output (one thread at a time), lb_options
 *   (any number that read it, or one that changes it) and lb_stream (one that pushes and one that pulls). Destroying an
 *   object while a call on it is running is the caller's error, also in a log callback within that call. A thread that
 *   is cancelled (pthread_cancel) in a call ends at its next cancellation point after the call. Functions may be called
 *   as long as a thread runs, also from destructors of thread-specific data; thread-local data may be gone by then: of
 *   its last error only the code is left. For atexit() see below.
 * - fork(). A child process has none of its parent's threads. Objects created before return LB_INVALID_ARGUMENT there,
 *   and destroying them frees nothing, except for lb_options, lb_output, lb_tokenizer, lb_token_list, lb_sparse_list
 * and lb_multi_vector_list, which are the child's as well; a log callback is not called until it is set again. New
 * objects work as far as the vendors' libraries do. A child in which models were loaded, or whose parent has loaded
 * some, must end with _exit(): at exit() the vendors' libraries look for their threads.
 * - exit() destroys the vendors' static objects, and calls what atexit() was given, in one order: the last that came to
 *   be goes first. When it comes to those of a vendor, the process is ending: whatever opens, loads, computes, lists
 *   devices or starts is LB_BUSY then, on every thread, and destroying a runtime, model, embedder, cross-encoder,
 * sparse encoder, multi-vector encoder, stream or job frees nothing. So a function given to atexit(), or the destructor
 * of a static object, may compute when it was registered (when the object was made) after the last model was loaded and
 * had run once; one registered earlier gets LB_BUSY. All other functions (options, errors, tokenizers, attestations)
 * work at any time.
 * - What is inside a vendor's library when the process ends: exit() waits for calls on other threads, abandoned vendor
 *   calls, jobs, the writer of the compile cache and probes of devices, five seconds at most. Where the main thread
 *   ends, it does so before anything is destroyed, and holds up what other threads would begin, for a second at most,
 *   also where that thread ends by pthread_exit(). Where another thread calls exit(), it does so only after static
 *   objects are gone that vendors have made since a model last was loaded and had run once: a model's first run on one
 *   thread, while another one calls exit(), may crash. So may a vendor that takes longer than exit() waits, and
 *   temporary folders (latebind-…) may stay until a later start removes them: a program that knows of such calls
 *   (lb_active.hung_runs, LB_DEADLINE_EXCEEDED, LB_CANCELLED) can leave by _exit(). On Windows the system ends all
 *   threads before it destroys anything: nothing is waited for, and nothing becomes LB_BUSY.
 * - Strings are UTF-8 and NUL-terminated.
 * - Growth. Structs that may grow begin with `struct_size`, which the caller sets to sizeof(the struct): fields added
 *   later are neither read from nor written to a smaller struct. LB_INIT(type) makes a zeroed one. Numbers in
 *   enumerations never change meaning.
 */
#ifndef LATEBIND_LATEBIND_H
#define LATEBIND_LATEBIND_H

/* NOLINTBEGIN(modernize-use-using,modernize-deprecated-headers): this is C, also where C++ reads it */

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(LATEBIND_BUILDING)
#define LB_API __declspec(dllexport)
#elif defined(LATEBIND_STATIC)
#define LB_API
#else
#define LB_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define LB_API __attribute__((visibility("default")))
#else
#define LB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -- Version ------------------------------------------------------------------------------------------------------- */

/* The interface this header describes. It increases when something is added; a library with a lower number lacks
 * that. */
#define LATEBIND_ABI_VERSION 1

/* The interface the loaded library offers. */
LB_API uint32_t lb_abi_version(void);

/* The release, such as "0.1.0". Static. */
LB_API const char* lb_version(void);

/* -- Errors -------------------------------------------------------------------------------------------------------- */

/* In bands: 1xx the caller's error, 2xx the machine must change, 3xx a retry may help, 4xx a bug. */
typedef int32_t lb_code;
enum {
  LB_OK = 0,
  LB_INVALID_ARGUMENT = 100,
  LB_NOT_FOUND = 101,
  LB_INVALID_MODEL = 102,
  LB_SHAPE_MISMATCH = 103,
  LB_TYPE_MISMATCH = 104,
  LB_COUNT_MISMATCH = 105,
  LB_UNSUPPORTED = 106,
  LB_BUFFER_TOO_SMALL = 107,
  LB_TEXT_TOO_LONG = 108, /* more tokens than are taken, where a text must not be cut */
  LB_LIBRARY_NOT_FOUND = 200,
  LB_LIBRARY_UNUSABLE = 201,
  LB_DEVICE_NOT_FOUND = 202,
  LB_INCOMPATIBLE_BLOB = 203,
  LB_NO_DEVICE = 204,
  LB_STRICT_FALLBACK = 205,
  LB_PERMISSION_DENIED = 206,
  LB_IO = 207,
  LB_BUSY = 300,
  LB_DEADLINE_EXCEEDED = 301,
  LB_OUT_OF_MEMORY = 302,
  LB_DISK_FULL = 303,
  LB_DEVICE_FAILED = 304,
  LB_CANCELLED = 305,
  LB_INTERNAL = 400
};

typedef struct lb_error {
  size_t struct_size;
  lb_code code;
  int32_t retryable;       /* 1 when the same call may succeed later without any change */
  const char* message;     /* one line, including the vendor's message; never NULL */
  int32_t has_vendor_code; /* 1 when a vendor library reported the error */
  int64_t vendor_code;
  const char* vendor_text; /* the vendor's message, unchanged; "" when there is none */
  const char* details;     /* what led to it, one thing a line, such as every place where a library was looked for; ""
                              when there is nothing */
} lb_error;

/* The calling thread's last error, LB_OK and "" when it had none. The strings live until the thread's next failing
 * call, or until the thread ends. In functions called while it ends, the message says that the text is gone; code and
 * retryable are valid. */
LB_API void lb_last_error(lb_error* error);

/* "LIBRARY_NOT_FOUND" and so on; "UNKNOWN" for other numbers. Static. */
LB_API const char* lb_code_name(lb_code code);

/* -- Log ----------------------------------------------------------------------------------------------------------- */

enum { LB_LOG_DEBUG = 0, LB_LOG_INFO = 1, LB_LOG_WARNING = 2, LB_LOG_ERROR = 3 };

/* Called with one line, from any thread and from several at once; must not throw, nor end its thread (pthread_exit),
 * nor leave by longjmp. It may call any function of Latebind, but not destroy what is in use: a line may come in the
 * middle of a call, and then the object of that call, its outputs and its cancellation are in use on this very thread.
 * Latebind holds no lock meanwhile, and drops what it would log on this thread because of the callback. A slow callback
 * holds up the threads that log, 16 at most; lines of other threads are dropped and counted. */
typedef void (*lb_log_callback)(void* context, int32_t level, const char* text);

/* Passes lines of at least level `least` to `callback`; NULL means no logging, which is also the state at start-up.
 * When this returns, the previous callback is not running and will not be called again; so it must not wait for a
 * thread that is in here. Called from within a callback this does not wait: no new call of the old one begins, and
 * calls in progress on any thread run to their end. */
LB_API void lb_set_log(lb_log_callback callback, void* context, int32_t least);

/* -- Options ------------------------------------------------------------------------------------------------------- */

/* The settings of a runtime, a model or an embedder: texts by key. docs/configuration.md has the keys ("device",
 * "precision", "embedding.batch_tokens", "property.KEY" and so on); they are the same in config.toml, in the
 * environment, on the command line and in hosts. A key that is not set has no influence: a model that is loaded gets
 * what its own options set, else what those of its runtime set, else the default. Functions that take options copy
 * them. */
typedef struct lb_options lb_options;

/* Options without any key set. */
LB_API lb_code lb_options_create(lb_options** options);
LB_API void lb_options_destroy(lb_options* options);

/* Sets a key to a text; NULL unsets it. LB_INVALID_ARGUMENT for unknown keys, naming the nearest, and for texts that
 * the key cannot take. Whether a backend or device of this name, an address or a file exists is found where it is used:
 * for "device", lb_runtime_create and lb_runtime_check_options. */
LB_API lb_code lb_options_set(lb_options* options, const char* key, const char* text);
/* Sets what a config.toml sets, all of it or nothing. LB_NOT_FOUND, and LB_INVALID_ARGUMENT with file and line. */
LB_API lb_code lb_options_read_file(lb_options* options, const char* file);
/* Sets what the variables LATEBIND_… set, all of it or nothing. In a process with more rights than its caller, those
 * that choose code or files are left out. */
LB_API lb_code lb_options_read_environment(lb_options* options);
/* Both, as the program latebind does: the system's config.toml and the user's where they exist, `file` unless it is
 * NULL, the environment. */
LB_API lb_code lb_options_read_standard(lb_options* options, const char* file);
/* Sets what `over` sets. */
LB_API lb_code lb_options_apply(lb_options* options, const lb_options* over);

typedef struct lb_option_value {
  size_t struct_size;
  int32_t is_set;
  const char* text;   /* the default when it is not set; both pointers are valid until the key is changed */
  const char* origin; /* what set it: "/etc/latebind/config.toml:3", "environment LATEBIND_DEVICE", "" for
                         lb_options_set; else "default" */
} lb_option_value;
LB_API lb_code lb_options_get(const lb_options* options, const char* key, lb_option_value* value);

/* A known key. Everything is static. */
typedef struct lb_option_info {
  size_t struct_size;
  const char* key;          /* one that ends in a dot stands for all keys that begin with it: "property." */
  const char* value;        /* what a value looks like: "N", "true|false" */
  const char* default_text; /* may be "" */
  const char* help;         /* one paragraph */
  const char* environment;  /* "LATEBIND_DEVICE"; "" when there is none */
  const char* flag;         /* of the program latebind: "--device"; "" when there is none */
  int32_t of_model;         /* 1: may come from an untrusted file such as a model: how it is computed. 0: chooses code,
                               files, time limits and so on, which are up to the host */
} lb_option_info;
LB_API size_t lb_option_count(void);
LB_API lb_code lb_option_at(size_t index, lb_option_info* info);
/* The one that `key` is or belongs to, also for "property." itself, which cannot be set; LB_INVALID_ARGUMENT naming the
 * nearest when there is none. */
LB_API lb_code lb_option_find(const char* key, lb_option_info* info);

/* -- Calls --------------------------------------------------------------------------------------------------------- */

/* Cancels the calls that carry it, from any thread but not from a signal handler. A request cannot be taken back. One
 * serves any number of calls at once, and may be destroyed before they end. */
typedef struct lb_cancellation lb_cancellation;
LB_API lb_code lb_cancellation_create(lb_cancellation** cancellation);
/* Does nothing in a child forked after the cancellation was created: it belongs to calls of the parent. */
LB_API void lb_cancellation_request(const lb_cancellation* cancellation);
LB_API void lb_cancellation_destroy(lb_cancellation* cancellation);

/* What answers (backend, device, versions), and why not a preferred device: a snapshot. */
typedef struct lb_attestation lb_attestation;

/* Options of one call. NULL stands for a zeroed one. */
typedef struct lb_call_options {
  size_t struct_size;
  uint64_t timeout_ms; /* 0: none. The call returns when it has passed, whatever the vendor does; the vendor's own call
                          goes on in the background: LB_DEADLINE_EXCEEDED, or LB_BUSY when nothing had begun for lack of
                          a free request. Reading a model's files is not interrupted */
  const lb_cancellation* cancellation; /* ends the call with LB_CANCELLED; NULL: none */
  lb_attestation** answered_by;        /* when not NULL and the call succeeds: receives what answered it, for
                                          lb_attestation_destroy */
} lb_call_options;

/* -- Runtime ------------------------------------------------------------------------------------------------------- */

/* The backends of this process. Creating a runtime loads nothing. Other objects keep alive what they need of it. */
typedef struct lb_runtime lb_runtime;

/* `options` may be NULL. Their settings of models hold for all that are loaded. Only the runtime's options say where
 * the vendors' libraries are ("openvino.library", "onnxruntime.library", "onnxruntime.providers" …); what is not set is
 * searched for. */
LB_API lb_code lb_runtime_create(const lb_options* options, lb_runtime** runtime);
LB_API void lb_runtime_destroy(lb_runtime* runtime);

/* LB_OK when some device of this machine can run models from files ("native" runs embedding models alone). Asks the
 * backends in order and stops at the first that can; opens its vendor library if it is not open yet, and is cheap
 * afterwards. Else LB_NO_DEVICE: the message begins with what to type, and then says why each backend is not
 * available. */
LB_API lb_code lb_runtime_check(const lb_runtime* runtime);

/* LB_OK when a model could be loaded with these options: the device names are known, and nothing is set that belongs to
 * the runtime. Nothing is loaded. `options` may be NULL. */
LB_API lb_code lb_runtime_check_options(const lb_runtime* runtime, const lb_options* options);

/* -- Devices ------------------------------------------------------------------------------------------------------- */

enum { LB_DEVICE_CPU = 0, LB_DEVICE_GPU = 1, LB_DEVICE_NPU = 2, LB_DEVICE_OTHER = 3 };

/* A snapshot of what was there when it was created. */
typedef struct lb_device_list lb_device_list;

typedef struct lb_device {
  size_t struct_size;
  const char* id;      /* "openvino:CPU" */
  const char* backend; /* "openvino" */
  const char* name;    /* "CPU" */
  int32_t kind;        /* LB_DEVICE_… */
  int32_t is_virtual;  /* 1: can be compiled for, but is not in this machine */
  const char* full_name;
  const char* runtime_version; /* of the vendor library */
  size_t metadata_count;
  const char* const* metadata_keys; /* in order; these and all other pointers belong to the list and live as long as
                                       it */
  const char* const* metadata_values;
} lb_device;

typedef struct lb_backend {
  size_t struct_size;
  const char* name;
  lb_code code;                /* LB_OK when available */
  const char* reason;          /* why it is not, "" when it is */
  const char* runtime_version; /* "" when not available */
  const char* install_hint;    /* what to type to install the vendor's library */
  const char* known_errors;    /* the table of what this version computes otherwise than ONNX says, "" where nothing is
                                  known (core/onnx/known_errors.h has its form) */
} lb_backend;

/* Asks every backend, opening its vendor library if it is not open yet. A backend that is not available is not an
 * error: lb_device_list_backend says why. `virtual_too` 1: also devices that are not in this machine but can be
 * compiled for, after each backend's own devices. Its metadata has DiscoveredBy, Architecture, CompilerInstalled ("1",
 * or "0" with Missing: what to install) and Emulated ("1": runs here with the option "emulate"). */
LB_API lb_code lb_device_list_create(const lb_runtime* runtime, int32_t virtual_too, lb_device_list** list);
/* The devices that these words mean as targets of the job "compile" ("cpu", "npu:v73", "openvino:CPU"), one for each in
 * their order. LB_DEVICE_NOT_FOUND names the first that means none, the nearest word and those that are known;
 * LB_LIBRARY_NOT_FOUND the first whose compiler is not installed, and what is missing. */
LB_API lb_code lb_device_list_targets(const lb_runtime* runtime, const char* const* targets, size_t count,
                                      lb_device_list** list);
LB_API void lb_device_list_destroy(lb_device_list* list);
LB_API size_t lb_device_list_count(const lb_device_list* list);
/* LB_INVALID_ARGUMENT when `index` is not below the count. */
LB_API lb_code lb_device_list_get(const lb_device_list* list, size_t index, lb_device* device);
LB_API size_t lb_device_list_backend_count(const lb_device_list* list);
LB_API lb_code lb_device_list_backend(const lb_device_list* list, size_t index, lb_backend* backend);

/* -- Tensors ------------------------------------------------------------------------------------------------------- */

enum {
  LB_BOOL = 1,
  LB_I8 = 2,
  LB_U8 = 3,
  LB_I16 = 4,
  LB_U16 = 5,
  LB_I32 = 6,
  LB_U32 = 7,
  LB_I64 = 8,
  LB_U64 = 9,
  LB_F16 = 10,
  LB_BF16 = 11,
  LB_F32 = 12,
  LB_F64 = 13
};

#define LB_RANK_MAX 8
#define LB_DYNAMIC (-1)

/* A tensor in the caller's memory. Frozen: it is used in arrays and never grows. */
typedef struct lb_tensor {
  void* data;        /* inputs are read-only */
  int32_t type;      /* LB_F32 … */
  int32_t rank;      /* 0 to LB_RANK_MAX */
  int32_t strided;   /* 0: row-major and contiguous, `strides` is not read */
  int32_t reserved_; /* 0, or it is refused with LB_INVALID_ARGUMENT */
  int64_t shape[LB_RANK_MAX];
  int64_t strides[LB_RANK_MAX]; /* between neighbours in each dimension, in elements */
} lb_tensor;

/* The destination of an output. Keeps its buffer between runs, so that a steady state allocates nothing. */
typedef struct lb_output lb_output;

/* With `data`: the run writes there, and an output of more than `capacity` bytes is LB_BUFFER_TOO_SMALL; the memory
 * stays the caller's. With NULL: the output has its own buffer. */
LB_API lb_code lb_output_create(void* data, size_t capacity, lb_output** output);
/* The same for an existing output, which allocates nothing: for callers that use different memory for each run. */
LB_API lb_code lb_output_bind(lb_output* output, void* data, size_t capacity);
LB_API void lb_output_destroy(lb_output* output);
/* The tensor of the last run, with its true shape; data is NULL before the first one. Valid until the next run. */
LB_API lb_code lb_output_get(const lb_output* output, lb_tensor* tensor);

/* -- Attestation --------------------------------------------------------------------------------------------------- */

typedef struct lb_active {
  size_t struct_size;
  const char* backend; /* "none" where no device has a part in the answer: `device` is "" then */
  const char* device;  /* without the backend: "CPU" */
  const char* device_full_name;
  const char* runtime_version;
  const char* library_file;     /* the vendor library that is in use */
  const char* precision;        /* "f32", "bf16", "f16", "int8": what the device computes in, not what was asked for */
  uint32_t threads;             /* 0 when the vendor does not report it */
  uint32_t requests;            /* runs that can go side by side */
  int32_t fallback;             /* 1 when a preferred device could not be used */
  const char* reason;           /* one line when fallback, else "" */
  const size_t* static_lengths; /* what it was compiled for, ascending; NULL when it takes any length */
  size_t static_length_count;
  size_t static_rows;
  size_t hung_runs;  /* abandoned runs on any of its devices that have not returned yet; 0 for the attestation of one
                        call */
  int32_t emulated;  /* 1: the device is not in this machine, and its vendor's emulation answers */
  size_t nodes;      /* of the model; 0 where the vendor does not say who computes which */
  size_t host_nodes; /* of these, those that the device leaves to its host's CPU */
  const char* verification; /* with "verification.enabled": what came of comparing the device with another one, in one
                               line: "agrees with native:CPU: …", "not verified: …"; else "" */
} lb_active;

typedef struct lb_placement_step {
  size_t struct_size;
  const char* device; /* "openvino:CPU", or "openvino" when the backend is not available */
  int32_t taken;
  const char* reason;  /* why it was not taken, in one line; of the one that was, what came compiled and did not do,
                          else "" */
  const char* details; /* what led to that, as in lb_error */
} lb_placement_step;

LB_API void lb_attestation_destroy(lb_attestation* attestation);
LB_API lb_code lb_attestation_get(const lb_attestation* attestation, lb_active* active);
/* Every device and backend that was considered, in order; the one taken is the last. */
LB_API size_t lb_attestation_step_count(const lb_attestation* attestation);
LB_API lb_code lb_attestation_step(const lb_attestation* attestation, size_t index, lb_placement_step* step);

/* -- Models -------------------------------------------------------------------------------------------------------- */

typedef struct lb_model lb_model;

/* An ONNX model, an OpenVINO IR (.xml with its .bin beside it), or a bundle. `options` and `call` may be NULL; `call`
 * ends the loading, not what is loaded. LB_NO_DEVICE lists why each device was rejected; when all of
 * them say the same about the model, the blob or the options, or have no memory, it is that code instead. Compiled
 * models are kept when "cache.folder" or "cache.enabled" says so. */
LB_API lb_code lb_model_load_file(const lb_runtime* runtime, const char* file, const lb_options* options,
                                  const lb_call_options* call, lb_model** model);

enum {
  LB_FORMAT_ONNX = 0,
  LB_FORMAT_OPENVINO_IR = 1,   /* without `weights`: they may follow the XML text, after a NUL, at the next multiple of
                                  64 bytes from its beginning */
  LB_FORMAT_BUNDLE = 2,        /* a stored ZIP, used in place: data that begins at a page boundary stays aligned */
  LB_FORMAT_OPENVINO_BLOB = 3, /* what OpenVINO exported for one device and one version: it computes in the requested
                                  precision (by default f32, or f16 where the device does not support that), or is
                                  rejected; LB_INCOMPATIBLE_BLOB when no device here takes it */
  LB_FORMAT_BY_FIRST_BYTES = 4 /* one of these; LB_INVALID_MODEL when the first bytes match none */
};

/* An external data file of an ONNX model, as memory that lives as long as the model's. Frozen. */
typedef struct lb_external_data {
  const char* location; /* as the model names it: relative to its own folder */
  const void* data;     /* may be NULL when size is 0 */
  size_t size;          /* bytes */
} lb_external_data;

/* A model in memory. The library refers to it and copies nothing; it calls `release(context)` once, from any thread,
 * when it no longer does: possibly after lb_model_destroy, or before the loading function returns an error. */
typedef struct lb_model_memory {
  size_t struct_size;
  int32_t format;                 /* LB_FORMAT_… */
  const void* graph;              /* ONNX protobuf, IR XML, bundle or blob */
  size_t graph_size;              /* bytes */
  const void* weights;            /* IR only: what the XML's offsets refer to */
  size_t weights_size;            /* bytes */
  void (*release)(void* context); /* may be NULL */
  void* context;
  const char* name;                 /* for messages; NULL: "a model in memory" */
  const lb_external_data* external; /* ONNX only: its external data files */
  size_t external_count;
  /* NULL, or one for each of `external`, which may be NULL: a file (UTF-8) in place of `data` and `size`, which are
   * NULL and 0 then. The library maps it, and the compile cache knows it by what identifies it, without reading it.
   * Vendors get a copy: it may be changed once the model is loaded, but a device that is loaded later then fails with
   * LB_IO. */
  const char* const* external_files;
} lb_model_memory;

LB_API lb_code lb_model_load_memory(const lb_runtime* runtime, const lb_model_memory* memory, const lb_options* options,
                                    const lb_call_options* call, lb_model** model);
LB_API void lb_model_destroy(lb_model* model);

typedef struct lb_tensor_info {
  size_t struct_size;
  const char* name;
  int32_t type;
  int32_t rank;
  int64_t shape[LB_RANK_MAX]; /* LB_DYNAMIC where not known before a run */
  int64_t upper[LB_RANK_MAX]; /* the most that a dynamic dimension may be; LB_DYNAMIC where no bound is known, and for
                                 dimensions that are not dynamic */
} lb_tensor_info;

LB_API size_t lb_model_input_count(const lb_model* model);
LB_API size_t lb_model_output_count(const lb_model* model);
LB_API lb_code lb_model_input(const lb_model* model, size_t index, lb_tensor_info* info);
LB_API lb_code lb_model_output(const lb_model* model, size_t index, lb_tensor_info* info);

/* Inputs and outputs in the model's order, each lb_output only once. Counts, types and shapes are checked; errors name
 * the tensor. `call` may be NULL. */
LB_API lb_code lb_model_run(lb_model* model, const lb_tensor* inputs, size_t input_count, lb_output* const* outputs,
                            size_t output_count, const lb_call_options* call);

/* Who would answer now. */
LB_API lb_code lb_model_attestation(const lb_model* model, lb_attestation** attestation);

/* Turns texts into token ids: see below. */
typedef struct lb_tokenizer lb_tokenizer;

/* -- Embedding ----------------------------------------------------------------------------------------------------- */

typedef struct lb_embedder lb_embedder;

/* A sentence-transformers model folder as it comes from the hub. `options` and `call` may be NULL. */
LB_API lb_code lb_embedder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                                const lb_call_options* call, lb_embedder** embedder);
LB_API void lb_embedder_destroy(lb_embedder* embedder);

/* Floats per vector. */
LB_API size_t lb_embedder_dimension(const lb_embedder* embedder);
/* Texts are cut to this many tokens. */
LB_API size_t lb_embedder_max_tokens(const lb_embedder* embedder);

/* A text that need not end in NUL. Frozen. */
typedef struct lb_text {
  const char* data; /* UTF-8; may be NULL when size is 0 */
  size_t size;      /* bytes */
} lb_text;

/* The token ids of a text, special tokens included. Frozen. */
typedef struct lb_token_ids {
  const int32_t* ids;
  size_t count;
} lb_token_ids;

/* What texts are to a model that takes queries and documents in different ways, by its prompts or by its parts. Unsaid:
 * what its files say. */
enum { LB_ROLE_UNSAID = 0, LB_ROLE_QUERY = 1, LB_ROLE_DOCUMENT = 2 };

/* Per-call deviations from how the embedder was opened. NULL stands for a zeroed one. */
typedef struct lb_embed_options {
  size_t struct_size;
  size_t dimensions;     /* only the first numbers of a vector, normalised again where it was: for models trained for
                            this (Matryoshka); 0: all */
  size_t max_tokens;     /* of one text, special tokens included; at most lb_embedder_max_tokens(), which is also the
                            meaning of 0 */
  int32_t refuse_longer; /* 1: a longer text is LB_TEXT_TOO_LONG, instead of being cut */
  int32_t normalize;     /* 1: vectors of length 1, even if the model does not normalise */
  int32_t alone;         /* 1: in batches of their own, so that the same call gives the same bits whatever others do; 0:
                            they may share batches with texts of other calls, which is faster for many calls with few
                            texts */
  int32_t role;          /* what the texts are: LB_ROLE_QUERY … */
  uint32_t* token_counts; /* when not NULL: receives the tokens of each text, as computed. Not for streams */
  /* What is put before every text: `prompt` ("": nothing), or the model's prompt of that name; NULL and NULL: what the
   * model says ("default_prompt_name" of config_sentence_transformers.json; for texts with a role the prompt "query",
   * or the first of "document", "passage" and "corpus"), mostly nothing. LB_INVALID_ARGUMENT for both, for a name that
   * the model does not have, and with token ids for anything but "". Nothing is kept. */
  const char* prompt;
  const char* prompt_name;
} lb_embed_options;

typedef struct lb_embed_stats {
  size_t struct_size;
  uint64_t texts;
  uint64_t tokens;        /* real ones */
  uint64_t padded_tokens; /* what was computed */
  uint64_t truncated_texts;
  double seconds;
  uint64_t fallback_texts; /* computed by a device other than the preferred one: lb_active.fallback */
} lb_embed_stats;

/* Writes `count` rows of lb_embedder_dimension() floats, or as many as the options say, to `vectors`, in the order of
 * the texts. `capacity` is the number of floats that `vectors` holds (LB_BUFFER_TOO_SMALL). Texts that are not UTF-8
 * are LB_INVALID_ARGUMENT, with position and byte. A vector with numbers that are not finite, or of zeros where it is
 * to be normalised, is LB_INTERNAL, with the text's position, device and precision: repeating the call gives the same
 * error, another precision may not. On error `vectors` is unspecified. `options`, `call` and `stats` may be NULL. */
LB_API lb_code lb_embedder_embed(const lb_embedder* embedder, const lb_text* texts, size_t count,
                                 const lb_embed_options* options, const lb_call_options* call, float* vectors,
                                 size_t capacity, lb_embed_stats* stats);

/* The same for texts that are token ids already. LB_INVALID_ARGUMENT for ids that the model does not know, and for
 * texts without ids. */
LB_API lb_code lb_embedder_embed_ids(const lb_embedder* embedder, const lb_token_ids* texts, size_t count,
                                     const lb_embed_options* options, const lb_call_options* call, float* vectors,
                                     size_t capacity, lb_embed_stats* stats);

/* Who would answer now. */
LB_API lb_code lb_embedder_attestation(const lb_embedder* embedder, lb_attestation** attestation);

/* -- Scores -------------------------------------------------------------------------------------------------------- */

/* A cross-encoder: a model that gives scores for two texts together, such as a query and a document. */
typedef struct lb_cross_encoder lb_cross_encoder;

/* As lb_embedder_open, of a folder that sentence-transformers' CrossEncoder loads. LB_INVALID_ARGUMENT for a model that
 * gives vectors, as from lb_embedder_open for one of these. */
LB_API lb_code lb_cross_encoder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                                     const lb_call_options* call, lb_cross_encoder** cross_encoder);
LB_API void lb_cross_encoder_destroy(lb_cross_encoder* cross_encoder);

/* Scores of a pair: one, of most models that rank. */
LB_API size_t lb_cross_encoder_label_count(const lb_cross_encoder* cross_encoder);
/* What a score is for, as the model names it ("LABEL_0", "entailment"); lives as long as the cross-encoder.
 * LB_INVALID_ARGUMENT where there is none. */
LB_API lb_code lb_cross_encoder_label(const lb_cross_encoder* cross_encoder, size_t index, lb_text* label);
/* Two texts together are cut to this many tokens, the longer one first. */
LB_API size_t lb_cross_encoder_max_tokens(const lb_cross_encoder* cross_encoder);

/* Two texts that are scored together. Frozen. */
typedef struct lb_text_pair {
  lb_text first; /* such as the query */
  lb_text second;
} lb_text_pair;

/* Options of one call. NULL stands for a zeroed one. */
typedef struct lb_score_options {
  size_t struct_size;
  size_t max_tokens;      /* of one pair, special tokens included; at most lb_cross_encoder_max_tokens(), which is also
                             the meaning of 0 */
  int32_t refuse_longer;  /* 1: a longer pair is LB_TEXT_TOO_LONG, instead of being cut */
  int32_t raw;            /* 1: the network's numbers as they are, also where the model makes a sigmoid's of them */
  int32_t alone;          /* as in lb_embed_options */
  int32_t reserved_;      /* 0, or it is refused with LB_INVALID_ARGUMENT */
  uint32_t* token_counts; /* when not NULL: receives the tokens of each pair, as computed */
} lb_score_options;

/* Writes `count` rows of lb_cross_encoder_label_count() scores to `scores`, in the order of the pairs; `capacity` is
 * the number of floats that it holds. All pairs of a call are batched together: a thousand documents for one query are
 * one call. The errors of lb_embedder_embed; on error `scores` is unspecified. `options`, `call` and `stats` may be
 * NULL. */
LB_API lb_code lb_cross_encoder_score(const lb_cross_encoder* cross_encoder, const lb_text_pair* pairs, size_t count,
                                      const lb_score_options* options, const lb_call_options* call, float* scores,
                                      size_t capacity, lb_embed_stats* stats);

/* Who would answer now. */
LB_API lb_code lb_cross_encoder_attestation(const lb_cross_encoder* cross_encoder, lb_attestation** attestation);

/* -- Sparse vectors ------------------------------------------------------------------------------------------------ */

/* A sparse encoder (SPLADE): a model that gives a text weights for the entries of its vocabulary, of which most are
 * zero. */
typedef struct lb_sparse_encoder lb_sparse_encoder;

/* As lb_embedder_open, of a folder that sentence-transformers' SparseEncoder loads. LB_INVALID_ARGUMENT for models of
 * other kinds. */
LB_API lb_code lb_sparse_encoder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* options,
                                      const lb_call_options* call, lb_sparse_encoder** encoder);
LB_API void lb_sparse_encoder_destroy(lb_sparse_encoder* encoder);

/* Indices are below this. */
LB_API size_t lb_sparse_encoder_vocabulary_size(const lb_sparse_encoder* encoder);
/* Texts are cut to this many tokens. */
LB_API size_t lb_sparse_encoder_max_tokens(const lb_sparse_encoder* encoder);
/* Its tokenizer, which knows the token of an index. */
LB_API lb_code lb_sparse_encoder_tokenizer(const lb_sparse_encoder* encoder, lb_tokenizer** tokenizer);

/* The sparse vectors of many texts. */
typedef struct lb_sparse_list lb_sparse_list;

/* Of `options`, which may be NULL, `dimensions` and `normalize` must be 0. `call` and `stats` may be NULL. The errors
 * of lb_embedder_embed. */
LB_API lb_code lb_sparse_encoder_encode(const lb_sparse_encoder* encoder, const lb_text* texts, size_t count,
                                        const lb_embed_options* options, const lb_call_options* call,
                                        lb_sparse_list** list, lb_embed_stats* stats);
LB_API void lb_sparse_list_destroy(lb_sparse_list* list);

/* Vectors as compressed sparse rows. The pointers live as long as their list. Frozen. */
typedef struct lb_sparse_rows {
  size_t count;            /* of vectors, in the order of the texts */
  const size_t* begins;    /* count + 1: vector i has the entries from begins[i] to before begins[i + 1] */
  const uint32_t* indices; /* of each entry: the id in the vocabulary, rising within a vector */
  const float* values;     /* of each entry: above 0 */
} lb_sparse_rows;
LB_API lb_code lb_sparse_list_rows(const lb_sparse_list* list, lb_sparse_rows* rows);

/* Who would answer now. */
LB_API lb_code lb_sparse_encoder_attestation(const lb_sparse_encoder* encoder, lb_attestation** attestation);

/* -- Vectors of tokens --------------------------------------------------------------------------------------------- */

/* A multi-vector encoder (late interaction, ColBERT): a model that gives a text a vector for each of its tokens. How
 * well a document answers a query is the sum, over the query's vectors, of each one's largest product with one of the
 * document's (MaxSim). */
typedef struct lb_multi_vector_encoder lb_multi_vector_encoder;

/* As lb_embedder_open, of a folder that sentence-transformers' MultiVectorEncoder loads: its own, PyLate's, or
 * Stanford's ColBERT. LB_INVALID_ARGUMENT for models of other kinds. */
LB_API lb_code lb_multi_vector_encoder_open(const lb_runtime* runtime, const char* model_folder,
                                            const lb_options* options, const lb_call_options* call,
                                            lb_multi_vector_encoder** encoder);
LB_API void lb_multi_vector_encoder_destroy(lb_multi_vector_encoder* encoder);

/* Floats of each vector. */
LB_API size_t lb_multi_vector_encoder_dimension(const lb_multi_vector_encoder* encoder);
/* Texts with this role, LB_ROLE_…, are cut to this many tokens; 0 for any other number. */
LB_API size_t lb_multi_vector_encoder_max_tokens(const lb_multi_vector_encoder* encoder, int32_t role);
LB_API lb_code lb_multi_vector_encoder_tokenizer(const lb_multi_vector_encoder* encoder, lb_tokenizer** tokenizer);

/* The vectors of many texts. */
typedef struct lb_multi_vector_list lb_multi_vector_list;

/* Of `options`, which may be NULL, `role` says what all of the texts are, and unsaid that they are documents: the two
 * have markers, lengths and masks of their own; `dimensions` must be 0; `normalize` gives vectors of length 1 even if
 * the model does not; `prompt` and `prompt_name` stand instead of the marker that such texts have ("[Q] ");
 * `token_counts` are those that were computed, of which not all have a vector. `call` and `stats` may be NULL. The
 * errors of lb_embedder_embed. */
LB_API lb_code lb_multi_vector_encoder_encode(const lb_multi_vector_encoder* encoder, const lb_text* texts,
                                              size_t count, const lb_embed_options* options,
                                              const lb_call_options* call, lb_multi_vector_list** list,
                                              lb_embed_stats* stats);
LB_API void lb_multi_vector_list_destroy(lb_multi_vector_list* list);

/* Vectors of texts, one after the other. The pointers of a list's rows live as long as the list. Frozen. */
typedef struct lb_multi_vector_rows {
  size_t count;         /* of texts, in their order */
  size_t dimension;     /* floats of each vector */
  const size_t* begins; /* count + 1: text i has the vectors from begins[i] to before begins[i + 1] */
  const float* vectors; /* rows of `dimension` floats, those of a text in the order of its tokens */
} lb_multi_vector_rows;
LB_API lb_code lb_multi_vector_list_rows(const lb_multi_vector_list* list, lb_multi_vector_rows* rows);

/* Writes queries->count rows of documents->count scores: MaxSim or, where the model says so, its mean over the query's
 * vectors. A document without a vector has -1e9, a query without one 0. The rows may be the caller's own.
 * LB_INVALID_ARGUMENT for another dimension than the model's, and for `begins` that do not rise from 0; `capacity` is
 * the number of floats that `scores` holds. `call` may be NULL. */
LB_API lb_code lb_multi_vector_encoder_compare(const lb_multi_vector_encoder* encoder,
                                               const lb_multi_vector_rows* queries,
                                               const lb_multi_vector_rows* documents, const lb_call_options* call,
                                               float* scores, size_t capacity);

/* Who would answer now. */
LB_API lb_code lb_multi_vector_encoder_attestation(const lb_multi_vector_encoder* encoder,
                                                   lb_attestation** attestation);

/* -- Streams ------------------------------------------------------------------------------------------------------- */

/* Vectors for an endless sequence of texts in bounded memory: texts are pushed, finished windows of them are pulled, in
 * the order of the texts. One thread may push while another one pulls. The first error that is not limited to one call
 * (a text that is not UTF-8, a device that fails) ends the stream: all later calls return it. */
typedef struct lb_stream lb_stream;

typedef struct lb_stream_options {
  size_t struct_size;
  size_t window_texts; /* a window is full when it has this many texts; 0: 2048 to 16384, as suits the batches */
  size_t window_bytes; /* or this many bytes of text; 0: 8 MiB */
} lb_stream_options;

/* `options` and `windows` may be NULL. Texts of a stream are computed in batches of their own. */
LB_API lb_code lb_stream_open(const lb_embedder* embedder, const lb_embed_options* options,
                              const lb_stream_options* windows, lb_stream** stream);
/* Drops what has not been pulled. */
LB_API void lb_stream_destroy(lb_stream* stream);

/* Takes texts as long as there is room, without waiting, and copies nothing but their ids: `taken` receives how many.
 * Fewer than `count`: windows wait to be pulled. */
LB_API lb_code lb_stream_push(lb_stream* stream, const lb_text* texts, size_t count, size_t* taken);
/* For pushing while another thread pulls: waits until there is room. `call` may be NULL. */
LB_API lb_code lb_stream_wait_for_room(lb_stream* stream, const lb_call_options* call);
/* No more texts will be pushed. */
LB_API lb_code lb_stream_finish(lb_stream* stream);

typedef struct lb_window {
  size_t struct_size;
  uint64_t first;               /* the position of its first text in the stream */
  size_t count;                 /* of texts; 0: the stream is at its end */
  size_t dimensions;            /* floats of a vector */
  const float* vectors;         /* `count` rows; this and the next pointer are valid until the next pull */
  const uint32_t* token_counts; /* of each text, as computed */
} lb_window;

/* Waits for the next window, also for texts that another thread has yet to push. LB_DEADLINE_EXCEEDED and LB_CANCELLED
 * when the call ends before it is ready: nothing is lost. `call` may be NULL. */
LB_API lb_code lb_stream_pull(lb_stream* stream, const lb_call_options* call, lb_window* window);

/* Statistics of what has been pulled. */
LB_API lb_code lb_stream_stats(const lb_stream* stream, lb_embed_stats* stats);

/* -- Tokens -------------------------------------------------------------------------------------------------------- */

/* The tokenizer of a model folder or bundle. Needs no runtime and no vendor library. */
LB_API lb_code lb_tokenizer_open(const char* model_folder, lb_tokenizer** tokenizer);
/* That of an embedder. */
LB_API lb_code lb_embedder_tokenizer(const lb_embedder* embedder, lb_tokenizer** tokenizer);
LB_API void lb_tokenizer_destroy(lb_tokenizer* tokenizer);

/* Ids are below this. */
LB_API size_t lb_tokenizer_vocabulary_size(const lb_tokenizer* tokenizer);
/* The token of an id, as the vocabulary has it ("##ing", "[CLS]"); lives as long as the tokenizer.
 * LB_INVALID_ARGUMENT where there is none. */
LB_API lb_code lb_tokenizer_token(const lb_tokenizer* tokenizer, int32_t id, lb_text* token);

/* The ids of many texts. */
typedef struct lb_token_list lb_token_list;

/* Special tokens included, cut to `max_tokens`, at most 1,048,576; 0: the model's limit. What the model says is put
 * before every text: the ids are those that lb_embedder_embed computes. */
LB_API lb_code lb_tokenizer_encode(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count, size_t max_tokens,
                                   lb_token_list** list);
/* The same with these options, which may be NULL: `max_tokens`, `refuse_longer`, `role`, `prompt` and `prompt_name`
 * count. */
LB_API lb_code lb_tokenizer_encode_with(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count,
                                        const lb_embed_options* options, lb_token_list** list);
/* The same, with where each token is in its text with the prompt before it: more time and memory. LB_UNSUPPORTED names
 * what of a tokenizer has no offsets. */
LB_API lb_code lb_tokenizer_encode_with_offsets(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count,
                                                const lb_embed_options* options, lb_token_list** list);
LB_API void lb_token_list_destroy(lb_token_list* list);
LB_API size_t lb_token_list_count(const lb_token_list* list);
/* `ids` is valid as long as the list. `is_truncated` receives 1 when the text was cut, and may be NULL.
 */
LB_API lb_code lb_token_list_get(const lb_token_list* list, size_t index, lb_token_ids* ids, int32_t* is_truncated);

/* Bytes of a text, always whole characters: what a token stands for. 0 and 0 for the special tokens around it. Frozen.
 */
typedef struct lb_token_offsets {
  size_t begin;
  size_t end;
} lb_token_offsets;

/* As many as the text has ids; valid as long as the list. LB_INVALID_ARGUMENT for a list without offsets. */
LB_API lb_code lb_token_list_offsets(const lb_token_list* list, size_t index, const lb_token_offsets** offsets);
/* What stands before each text of the list: its prompt, of a multi-vector encoder the marker of its role. Offsets count
 * from the beginning of it. Valid as long as the list. */
LB_API lb_code lb_token_list_prompt(const lb_token_list* list, lb_text* prompt);

/* -- Jobs ---------------------------------------------------------------------------------------------------------- */

/* What the commands of the program do (compile, pull, inspect, unpack, export, warm, verify, cache_list,
 * cache_clear, cache_verify, doctor, devices), on its own thread: arguments and report are JSON. */
typedef struct lb_job lb_job;

/* Starts the job of that name. `arguments`: a JSON object with the arguments that lb_job_kind lists, named like the
 * options of the command (without "--", and "_" instead of "-"); NULL when there are none. `options` override those of
 * the runtime and may be NULL; compiled models are kept unless "cache.enabled" is false. Wrong arguments are
 * LB_INVALID_ARGUMENT, here or in the result. LB_BUSY when 64 jobs are running. */
LB_API lb_code lb_job_start(const lb_runtime* runtime, const char* name, const char* arguments,
                            const lb_options* options, lb_job** job);

typedef struct lb_job_progress {
  size_t struct_size;
  int32_t is_over;
  uint64_t done;      /* bytes while "loading", otherwise steps */
  uint64_t total;     /* 0 while unknown */
  char activity[128]; /* "loading", "compiling npu-v73-f16-1x32"; truncated if longer */
} lb_job_progress;

/* Waits until the job is over, successful or not, for at most `timeout_ms`; 0: not at all. LB_DEADLINE_EXCEEDED while
 * it is not over. `progress` may be NULL, and is written in either case. */
LB_API lb_code lb_job_wait(lb_job* job, uint64_t timeout_ms, lb_job_progress* progress);

/* The job's own code and error, and its report as JSON text, which lives as long as the job and is "" when there is
 * none: some failed jobs have one, too. The code says whether the job was done; what it found is in the report
 * ("works", "ready", "damaged"). Ask lb_job_wait first whether it is over: LB_BUSY here means that it is not, or is the
 * job's own code. `report` may be NULL. */
LB_API lb_code lb_job_result(lb_job* job, const char** report);

/* Ends it with LB_CANCELLED at the next point between two steps: pull within a second or so, compile and warm between
 * devices (a compilation that a vendor has begun is waited for), doctor between devices. The others are short, and run
 * to their end once they have begun. */
LB_API void lb_job_cancel(const lb_job* job);

/* Cancels the job and does not wait for it. */
LB_API void lb_job_destroy(lb_job* job);

/* A kind of job. Static. */
typedef struct lb_job_kind {
  size_t struct_size;
  const char* name;
  const char* arguments; /* "{model, output, hidden_states}" */
  const char* report;    /* "{file}", or the command whose --help describes it */
} lb_job_kind;
LB_API size_t lb_job_kind_count(void);
LB_API lb_code lb_job_kind_at(size_t index, lb_job_kind* kind);

/* A zeroed struct with its size set: lb_call_options call = LB_INIT(lb_call_options); */
#ifdef __cplusplus
#define LB_INIT(type)                    \
  [] {                                   \
    type lb_sized{};                     \
    lb_sized.struct_size = sizeof(type); \
    return lb_sized;                     \
  }()
#else
#define LB_INIT(type) \
  { .struct_size = sizeof(type) }
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND(modernize-use-using,modernize-deprecated-headers) */

#endif /* LATEBIND_LATEBIND_H */
