/* Latebind's C interface. This header is the whole public interface; latebind.hpp wraps it for C++20.
 *
 * The following rules hold for every function:
 *
 * - Errors. A function that can fail returns an lb_code: LB_OK, or the code of the error. lb_last_error() returns the
 *   whole error (message, vendor's code and text), which is kept for the calling thread until its next failing call. No
 *   exception leaves the library, and the library never prints, aborts or exits.
 * - Ownership. The caller owns what an lb_…_create, lb_…_open or lb_…_load function returns, and passes it to the
 *   matching lb_…_destroy once. Destroying NULL does nothing. Pointers inside structs that a function fills belong to
 *   the object that filled them and live as long as it does. Objects may be destroyed in any order.
 * - Threads. Every object may be used by many threads at once, with three exceptions: lb_output (one thread at a time),
 *   lb_options (many readers or one writer) and lb_stream (one thread that pushes and one that pulls). An object must
 *   not be destroyed while a call on it is running, not even by a log callback within that call. A thread that is
 *   cancelled (pthread_cancel) during a call ends at its next cancellation point after the call. Functions may be
 *   called as long as a thread runs, also from destructors of thread-specific data; the thread's last error may then be
 *   reduced to its code.
 * - Strings are UTF-8 and NUL-terminated.
 * - Growth. Structs that may grow begin with `struct_size`, which the caller sets to sizeof(the struct). The library
 *   neither reads nor writes fields that lie beyond that size. LB_INIT(type) makes a zeroed struct with its size set.
 *   Numbers in enumerations never change meaning. A struct marked "Frozen" never grows.
 * - fork(). A child process has none of its parent's threads. In the child, calls on objects created before the fork
 *   return LB_INVALID_ARGUMENT, and destroying such objects frees nothing. The exceptions are lb_options, lb_output,
 *   lb_tokenizer, lb_token_list and lb_results, which remain usable. The log callback is not
 *   called until the child sets one. New objects work as far as the vendors' libraries do. A child must end with
 *   _exit() if it has loaded models or its parent had: at exit(), the vendors' libraries look for threads that the
 *   child does not have.
 * - exit() destroys the vendors' static objects and calls the functions registered with atexit(), in reverse order of
 *   construction and registration. Once it is about to reach a vendor's objects, the process counts as ending: on every
 *   thread, calls that open, load, compute, list devices or start something return LB_BUSY, and destroying a runtime,
 *   model, encoder, stream or job frees nothing. Functions on options, errors, results, tokenizers and attestations
 * work at any time. Therefore an atexit() function or the destructor of a static object may compute only if it was
 *   registered (or the object was constructed) after the last model was loaded and had run once; otherwise it gets
 *   LB_BUSY.
 * - Vendor calls that run while the process ends. exit() waits up to five seconds for calls on other threads, abandoned
 *   vendor calls, jobs, the writer of the compile cache and probes of devices. If the main thread ends the process,
 *   also by pthread_exit(), it waits before anything is destroyed, and holds up calls that other threads begin by up to
 *   one second. If another thread calls exit(), the wait comes after the destruction of static objects that a vendor
 *   has created since a model was last loaded and had run once. A process can therefore crash if one thread calls
 *   exit() during a model's first run on another thread, or if a vendor call outlasts the wait; temporary folders
 *   (latebind-…) may then remain until a later start removes them. A program that knows of such calls
 *   (lb_active.hung_runs, LB_DEADLINE_EXCEEDED, LB_CANCELLED) can leave by _exit(). On Windows, the system ends all
 *   threads before it destroys anything: exit() waits for no call, and no call returns LB_BUSY for this reason.
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

/* The version of the interface that this header describes. It increases with each addition; a library with a lower
 * number lacks the additions since then. */
#define LATEBIND_ABI_VERSION 2

/* Returns the version of the interface that the loaded library offers. */
LB_API uint32_t lb_abi_version(void);

/* Returns the release, such as "0.1.0". The string is static. */
LB_API const char* lb_version(void);

/* -- Errors -------------------------------------------------------------------------------------------------------- */

/* Codes come in bands: 1xx is the caller's error, 2xx requires a change of the machine, 3xx may succeed when retried,
 * 4xx is a bug in Latebind. */
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
  LB_TEXT_TOO_LONG = 108, /* the text has more tokens than the limit, and the caller forbade cutting it */
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
  const char* details;     /* what led to the error, one item a line, such as each place where a library was
                              searched; may be "" */
} lb_error;

/* Reads the calling thread's last error; LB_OK and "" when no call has failed. The strings live until the thread's next
 * failing call, or until the thread ends. In functions called while the thread ends, the message may only say that the
 * text is gone; code and retryable remain valid. */
LB_API void lb_last_error(lb_error* error);

/* Returns the name of a code, such as "LIBRARY_NOT_FOUND"; "UNKNOWN" for other numbers. The string is static. */
LB_API const char* lb_code_name(lb_code code);

/* -- Log ----------------------------------------------------------------------------------------------------------- */

enum { LB_LOG_DEBUG = 0, LB_LOG_INFO = 1, LB_LOG_WARNING = 2, LB_LOG_ERROR = 3 };

/* Receives one line of the log. It is called from any thread, and from several threads at once. It must not throw, end
 * its thread (pthread_exit) or leave by longjmp. It may call any function of Latebind, but must not destroy an object
 * that is in use: a line may come in the middle of a call on this very thread, and then that call's object, outputs and
 * cancellation are in use. Latebind holds no lock during the callback, and drops lines that the callback itself causes
 * on this thread. At most 16 threads wait for a slow callback; lines of further threads are dropped and counted. */
typedef void (*lb_log_callback)(void* context, int32_t level, const char* text);

/* Passes lines of level `least` and above to `callback`. NULL turns logging off, which is the state at start-up. When
 * this function returns, the previous callback is not running and will not be called again; a callback must therefore
 * not wait for a thread that is in this function. When called from within a callback, this function does not wait: no
 * new call of the previous callback begins, and running calls on any thread finish. */
LB_API void lb_set_log(lb_log_callback callback, void* context, int32_t least);

/* -- Options ------------------------------------------------------------------------------------------------------- */

/* Settings of a runtime, a model or an encoder, as texts by key. docs/configuration.md lists the keys ("device",
 * "precision", "embedding.batch_tokens", "property.KEY" and so on); config.toml, the environment, the command line and
 * hosts use the same ones. A key that is not set has no influence: a model takes the value that its own options set,
 * else the value that its runtime's options set, else the default. Functions that take options copy them. */
typedef struct lb_options lb_options;

/* Creates options without any key set. */
LB_API lb_code lb_options_create(lb_options** options);
LB_API void lb_options_destroy(lb_options* options);

/* Sets a key to a text; NULL unsets it. Returns LB_INVALID_ARGUMENT for an unknown key, naming the nearest one, and for
 * a text that the key does not accept. Whether the named backend, device, address or file exists is checked when it is
 * used; for "device", by lb_runtime_create and lb_runtime_check_options. */
LB_API lb_code lb_options_set(lb_options* options, const char* key, const char* text);
/* Sets everything that a config.toml sets, or nothing. Returns LB_NOT_FOUND, or LB_INVALID_ARGUMENT with file and
 * line. */
LB_API lb_code lb_options_read_file(lb_options* options, const char* file);
/* Sets everything that the variables LATEBIND_… set, or nothing. A process with more rights than its caller ignores the
 * variables that choose code or files. */
LB_API lb_code lb_options_read_environment(lb_options* options);
/* Reads settings as the program latebind does: the system's and the user's config.toml if they exist, then `file`
 * unless it is NULL, then the environment. */
LB_API lb_code lb_options_read_standard(lb_options* options, const char* file);
/* Sets every key that `over` sets. */
LB_API lb_code lb_options_apply(lb_options* options, const lb_options* over);

typedef struct lb_option_value {
  size_t struct_size;
  int32_t is_set;
  const char* text;   /* the default when the key is not set; both pointers are valid until the key is changed */
  const char* origin; /* the place that set it: "/etc/latebind/config.toml:3", "environment LATEBIND_DEVICE", "" for
                         lb_options_set; "default" when the key is not set */
} lb_option_value;
/* Gives the value of a key and its origin. Returns LB_INVALID_ARGUMENT for an unknown key. */
LB_API lb_code lb_options_get(const lb_options* options, const char* key, lb_option_value* value);

/* A known key. All strings are static. */
typedef struct lb_option_info {
  size_t struct_size;
  const char* key;          /* a key that ends in a dot stands for all keys that begin with it: "property." */
  const char* value;        /* the form of a value: "N", "true|false" */
  const char* default_text; /* may be "" */
  const char* help;         /* one paragraph */
  const char* environment;  /* "LATEBIND_DEVICE"; "" when there is no variable */
  const char* flag;         /* the flag of the program latebind: "--device"; "" when there is none */
  int32_t of_model;         /* 1: says how a model is computed, and may come from an untrusted file such as a model. 0:
                               chooses code, files, time limits and so on, and is reserved to the host */
} lb_option_info;
/* The number of known keys. */
LB_API size_t lb_option_count(void);
/* Describes a known key. Returns LB_INVALID_ARGUMENT when `index` is not below the count. */
LB_API lb_code lb_option_at(size_t index, lb_option_info* info);
/* Finds the entry that `key` is or belongs to; "property." itself is found, too, although it cannot be set. Returns
 * LB_INVALID_ARGUMENT, naming the nearest key, when there is no such entry. */
LB_API lb_code lb_option_find(const char* key, lb_option_info* info);

/* -- Calls --------------------------------------------------------------------------------------------------------- */

/* Cancels the calls that carry it. It serves any number of calls at once, and may be destroyed before they end. */
typedef struct lb_cancellation lb_cancellation;
/* Creates a cancellation that has not been requested. */
LB_API lb_code lb_cancellation_create(lb_cancellation** cancellation);
/* Cancels the calls, from any thread but not from a signal handler. A request cannot be taken back. In a child forked
 * after the cancellation was created, this does nothing. */
LB_API void lb_cancellation_request(const lb_cancellation* cancellation);
LB_API void lb_cancellation_destroy(lb_cancellation* cancellation);

/* A snapshot of what answers (backend, device, versions), and of why a preferred device was not used. */
typedef struct lb_attestation lb_attestation;

/* Options of one call. NULL means all fields zero. */
typedef struct lb_call_options {
  size_t struct_size;
  uint64_t timeout_ms; /* 0: no limit. The call returns when the time has passed, even if the vendor's call goes on in
                          the background: with LB_DEADLINE_EXCEEDED, or with LB_BUSY when it was still waiting for a
                          free request. Reading a model's files is not interrupted */
  const lb_cancellation* cancellation; /* ends the call with LB_CANCELLED; may be NULL */
  lb_attestation** answered_by;        /* unless NULL, receives the attestation of a successful call, to be destroyed
                                          with lb_attestation_destroy */
} lb_call_options;

/* -- Runtime ------------------------------------------------------------------------------------------------------- */

/* The backends of this process. Creating a runtime loads no library. Other objects keep alive what they need of it. */
typedef struct lb_runtime lb_runtime;

/* Creates a runtime. `options` may be NULL; their model settings apply to all models that the runtime loads. Only the
 * runtime's options can say where the vendors' libraries are ("openvino.library", "onnxruntime.library",
 * "onnxruntime.providers" …); the runtime searches for libraries whose place is not set. */
LB_API lb_code lb_runtime_create(const lb_options* options, lb_runtime** runtime);
LB_API void lb_runtime_destroy(lb_runtime* runtime);

/* Returns LB_OK when some device of this machine can run models from files ("native" runs only embedding models). Asks
 * the backends in order and stops at the first that can. The first call may open vendor libraries; later calls are
 * cheap. Otherwise returns LB_NO_DEVICE: the message begins with a command that helps, and then says why each backend
 * is not available. */
LB_API lb_code lb_runtime_check(const lb_runtime* runtime);

/* Returns LB_OK when a model can be loaded with these options: all device names are known, and no key is set that only
 * a runtime accepts. Loads nothing. `options` may be NULL. */
LB_API lb_code lb_runtime_check_options(const lb_runtime* runtime, const lb_options* options);

/* -- Devices ------------------------------------------------------------------------------------------------------- */

enum { LB_DEVICE_CPU = 0, LB_DEVICE_GPU = 1, LB_DEVICE_NPU = 2, LB_DEVICE_OTHER = 3 };

/* A snapshot of the devices and backends at the time when it was created. */
typedef struct lb_device_list lb_device_list;

typedef struct lb_device {
  size_t struct_size;
  const char* id;      /* "openvino:CPU" */
  const char* backend; /* "openvino" */
  const char* name;    /* "CPU" */
  int32_t kind;        /* LB_DEVICE_… */
  int32_t is_virtual;  /* 1: models can be compiled for it, but it is not in this machine */
  const char* full_name;
  const char* runtime_version; /* version of the vendor library */
  size_t metadata_count;
  const char* const* metadata_keys; /* sorted; these and all other pointers belong to the list and live as long as it
                                       does */
  const char* const* metadata_values;
} lb_device;

typedef struct lb_backend {
  size_t struct_size;
  const char* name;
  lb_code code;                /* LB_OK when available */
  const char* reason;          /* why the backend is not available; "" when it is */
  const char* runtime_version; /* "" when the backend is not available */
  const char* install_hint;    /* the command that installs the vendor's library */
  const char* known_errors;    /* the table of what this version computes differently from ONNX, in the form of
                                  core/onnx/known_errors.h; "" when no such errors are known */
} lb_backend;

/* Asks every backend for its devices, and opens its vendor library if that is not open yet. A backend that is not
 * available is not an error; lb_device_list_backend gives the reason. If `virtual_too` is 1, each backend's devices are
 * followed by those that are not in this machine but can be compiled for. The metadata of such a device has
 * DiscoveredBy, Architecture, CompilerInstalled ("1", or "0" with Missing: what to install) and Emulated ("1": it runs
 * here with the option "emulate"). */
LB_API lb_code lb_device_list_create(const lb_runtime* runtime, int32_t virtual_too, lb_device_list** list);
/* Lists the devices that these words mean as targets of the job "compile" ("cpu", "npu:v73", "openvino:CPU"): one for
 * each word, in the order of the words. LB_DEVICE_NOT_FOUND names the first unknown word, the nearest known word and
 * all known words. LB_LIBRARY_NOT_FOUND names the first word whose compiler is not installed, and what is missing. */
LB_API lb_code lb_device_list_targets(const lb_runtime* runtime, const char* const* targets, size_t count,
                                      lb_device_list** list);
LB_API void lb_device_list_destroy(lb_device_list* list);
/* The number of devices in the list. */
LB_API size_t lb_device_list_count(const lb_device_list* list);
/* Returns LB_INVALID_ARGUMENT when `index` is not below the count. */
LB_API lb_code lb_device_list_get(const lb_device_list* list, size_t index, lb_device* device);
/* The number of backends, available or not. */
LB_API size_t lb_device_list_backend_count(const lb_device_list* list);
/* Describes a backend. Returns LB_INVALID_ARGUMENT when `index` is not below the count. */
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
  void* data;        /* the library only reads inputs */
  int32_t type;      /* LB_F32 … */
  int32_t rank;      /* 0 to LB_RANK_MAX */
  int32_t strided;   /* 0: row-major and contiguous; `strides` is not read */
  int32_t reserved_; /* must be 0, else LB_INVALID_ARGUMENT */
  int64_t shape[LB_RANK_MAX];
  int64_t strides[LB_RANK_MAX]; /* distance between neighbours in each dimension, in elements */
} lb_tensor;

/* The destination of an output. It keeps its buffer between runs, so that repeated runs allocate nothing. */
typedef struct lb_output lb_output;

/* Creates an output. With `data`, runs write to that memory, which remains the caller's, and an output larger than
 * `capacity` bytes is LB_BUFFER_TOO_SMALL. With NULL, Latebind allocates the buffer of the output. */
LB_API lb_code lb_output_create(void* data, size_t capacity, lb_output** output);
/* Rebinds an existing output in the same way without allocating, for callers that use different memory for each run. */
LB_API lb_code lb_output_bind(lb_output* output, void* data, size_t capacity);
LB_API void lb_output_destroy(lb_output* output);
/* Gives the tensor of the last run, with its actual shape; data is NULL before the first run. Valid until the next
 * run. */
LB_API lb_code lb_output_get(const lb_output* output, lb_tensor* tensor);

/* -- Attestation --------------------------------------------------------------------------------------------------- */

typedef struct lb_active {
  size_t struct_size;
  const char* backend; /* "none" when no device contributed to the answer; `device` is "" then */
  const char* device;  /* without the backend: "CPU" */
  const char* device_full_name;
  const char* runtime_version;
  const char* library_file;     /* the vendor library in use */
  const char* precision;        /* "f32", "bf16", "f16", "int8": what the device computes in, not what was requested */
  uint32_t threads;             /* 0 when the vendor does not report it */
  uint32_t requests;            /* runs that can be in progress at the same time */
  int32_t fallback;             /* 1 when a preferred device could not be used */
  const char* reason;           /* one line if fallback, else "" */
  const size_t* static_lengths; /* the lengths it was compiled for, ascending; NULL when it takes any length */
  size_t static_length_count;
  size_t static_rows;
  size_t hung_runs;  /* abandoned runs on any of its devices that have not returned yet; 0 in the attestation of one
                        call */
  int32_t emulated;  /* 1: the device is not in this machine, and its vendor's emulation answers */
  size_t nodes;      /* nodes of the model; 0 when the vendor does not report which device computes them */
  size_t host_nodes; /* the nodes among them that the device leaves to its host's CPU */
  const char* verification; /* with "verification.enabled", the result of comparing the device with another one, in one
                               line: "agrees with native:CPU: …", "not verified: …"; else "" */
} lb_active;

typedef struct lb_placement_step {
  size_t struct_size;
  const char* device; /* "openvino:CPU", or "openvino" when the backend is not available */
  int32_t taken;
  const char* reason;  /* one line: why the device was not taken; for the one that was taken, why a precompiled blob
                          could not be used, else "" */
  const char* details; /* what led to the reason, as in lb_error */
} lb_placement_step;

LB_API void lb_attestation_destroy(lb_attestation* attestation);
/* Gives what answers. The pointers live as long as the attestation. */
LB_API lb_code lb_attestation_get(const lb_attestation* attestation, lb_active* active);
/* The number of devices and backends that were considered, in order; the last one is the one taken. */
LB_API size_t lb_attestation_step_count(const lb_attestation* attestation);
/* Gives one of these steps. Returns LB_INVALID_ARGUMENT when `index` is not below the count. */
LB_API lb_code lb_attestation_step(const lb_attestation* attestation, size_t index, lb_placement_step* step);

/* -- Models -------------------------------------------------------------------------------------------------------- */

typedef struct lb_model lb_model;

/* Loads an ONNX model, an OpenVINO IR (.xml with its .bin beside it) or a bundle. `options` and `call` may be NULL;
 * `call` limits the loading only. LB_NO_DEVICE lists why each device was rejected. If all devices report the same error
 * about the model, the blob or the options, or all lack memory, that error's code is returned instead. Compiled models
 * are cached when "cache.folder" or "cache.enabled" says so. */
LB_API lb_code lb_model_load_file(const lb_runtime* runtime, const char* file, const lb_options* options,
                                  const lb_call_options* call, lb_model** model);

enum {
  LB_FORMAT_ONNX = 0,
  LB_FORMAT_OPENVINO_IR = 1,   /* without `weights`, they may follow the XML text and a NUL, at the next multiple of 64
                                  bytes from its beginning */
  LB_FORMAT_BUNDLE = 2,        /* a stored ZIP, used in place: data that begins at a page boundary stays aligned */
  LB_FORMAT_OPENVINO_BLOB = 3, /* exported by OpenVINO for one device and one version. It is rejected unless it computes
                                  in the requested precision (by default f32, or f16 if the device does not support
                                  that). LB_INCOMPATIBLE_BLOB when no device here takes it */
  LB_FORMAT_BY_FIRST_BYTES = 4 /* any of the above; LB_INVALID_MODEL when the first bytes match no format */
};

/* An external data file of an ONNX model, as memory that lives as long as the model's memory. Frozen. */
typedef struct lb_external_data {
  const char* location; /* as the model names it, relative to the model's folder */
  const void* data;     /* may be NULL when size is 0 */
  size_t size;          /* bytes */
} lb_external_data;

/* A model in memory. The library refers to the memory without copying it, and calls `release(context)` exactly once
 * when it no longer does. That call may come from any thread, after lb_model_destroy, or before a failing load
 * returns. */
typedef struct lb_model_memory {
  size_t struct_size;
  int32_t format;                 /* LB_FORMAT_… */
  const void* graph;              /* ONNX protobuf, IR XML, bundle or blob */
  size_t graph_size;              /* bytes */
  const void* weights;            /* IR only: the data that the XML's offsets refer to */
  size_t weights_size;            /* bytes */
  void (*release)(void* context); /* may be NULL */
  void* context;
  const char* name;                 /* used in messages; NULL: "a model in memory" */
  const lb_external_data* external; /* ONNX only: its external data files */
  size_t external_count;
  /* NULL, or one entry for each of `external`. An entry that is not NULL names a file (UTF-8) that replaces `data` and
   * `size`, which are then NULL and 0. The library maps the file, and the compile cache identifies it without reading
   * it. Vendors get a copy, so the file may be changed once the model is loaded; devices that are loaded later then
   * fail with LB_IO. */
  const char* const* external_files;
} lb_model_memory;

/* Loads a model from memory. Arguments and errors are otherwise those of lb_model_load_file. */
LB_API lb_code lb_model_load_memory(const lb_runtime* runtime, const lb_model_memory* memory, const lb_options* options,
                                    const lb_call_options* call, lb_model** model);
LB_API void lb_model_destroy(lb_model* model);

typedef struct lb_tensor_info {
  size_t struct_size;
  const char* name;
  int32_t type;
  int32_t rank;
  int64_t shape[LB_RANK_MAX]; /* LB_DYNAMIC for dimensions that are not known before a run */
  int64_t upper[LB_RANK_MAX]; /* upper bound of a dynamic dimension; LB_DYNAMIC when no bound is known, and for
                                 dimensions that are not dynamic */
} lb_tensor_info;

/* The model's inputs and outputs, in its order. LB_INVALID_ARGUMENT when `index` is not below the count. */
LB_API size_t lb_model_input_count(const lb_model* model);
LB_API size_t lb_model_output_count(const lb_model* model);
LB_API lb_code lb_model_input(const lb_model* model, size_t index, lb_tensor_info* info);
LB_API lb_code lb_model_output(const lb_model* model, size_t index, lb_tensor_info* info);

/* Runs the model. Inputs and outputs are in the model's order, and each lb_output appears only once. Counts, types and
 * shapes are checked; errors name the tensor. `call` may be NULL. */
LB_API lb_code lb_model_run(lb_model* model, const lb_tensor* inputs, size_t input_count, lb_output* const* outputs,
                            size_t output_count, const lb_call_options* call);

/* Tells which device would answer now, and why. */
LB_API lb_code lb_model_attestation(const lb_model* model, lb_attestation** attestation);

/* Turns texts into token ids; see "Tokens" below. */
typedef struct lb_tokenizer lb_tokenizer;

/* -- Encoders ------------------------------------------------------------------------------------------------------ */

/* A model that encodes texts, or pairs of texts. It has one or several outputs, and one pass of the network computes
 * all outputs that a call requests. Each output has a form, which says how its results are read:
 *
 *   "dense"          a vector for each text                                          lb_results_dense
 *   "sparse"         weights for entries of the vocabulary (SPLADE)                  lb_results_sparse
 *   "multi_vector"   a vector for each token (late interaction, ColBERT)             lb_results_ragged
 *   "token_vectors"  the network's own vector for each token                         lb_results_ragged
 *   "score"          a score for each label of a pair of texts (cross-encoder)       lb_results_scores */
typedef struct lb_encoder lb_encoder;

/* A text that need not be NUL-terminated. Frozen. */
typedef struct lb_text {
  const char* data; /* UTF-8; may be NULL when size is 0 */
  size_t size;      /* bytes */
} lb_text;

/* Two texts that are encoded together. Frozen. */
typedef struct lb_text_pair {
  lb_text first; /* for example, the query */
  lb_text second;
} lb_text_pair;

/* The token ids of a text, including special tokens. Frozen. */
typedef struct lb_token_ids {
  const int32_t* ids;
  size_t count;
} lb_token_ids;

/* The role of the texts, for models that treat queries and documents differently, either by prompts or by separate
 * networks (routers). LB_ROLE_UNSPECIFIED means the default of the model's files. */
enum { LB_ROLE_UNSPECIFIED = 0, LB_ROLE_QUERY = 1, LB_ROLE_DOCUMENT = 2 };

/* How an encoder is opened. NULL means all fields zero. */
typedef struct lb_encoder_options {
  size_t struct_size;
  const char* const* outputs; /* the names of the outputs that calls can request; each costs time in every run. NULL:
                                 the model's own output */
  size_t output_count;
  int32_t role;      /* the only route of a router that is loaded: LB_ROLE_…. LB_ROLE_UNSPECIFIED loads both. Without
                        influence on models without routes */
  int32_t reserved_; /* must be 0, else LB_INVALID_ARGUMENT */
} lb_encoder_options;

/* Opens a model folder as the hub provides it (of sentence-transformers' SentenceTransformer, CrossEncoder,
 * SparseEncoder or MultiVectorEncoder, of PyLate, or of Stanford's ColBERT), or a bundle of one. `settings`, `options`
 * and `call` may be NULL. Returns LB_INVALID_ARGUMENT for a name that no output has, with the nearest one, and
 * LB_UNSUPPORTED for an output that the model does not have, with those that it has. */
LB_API lb_code lb_encoder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* settings,
                               const lb_encoder_options* options, const lb_call_options* call, lb_encoder** encoder);
LB_API void lb_encoder_destroy(lb_encoder* encoder);

/* What an encoder is. The strings live as long as the encoder. */
typedef struct lb_encoder_info {
  size_t struct_size;
  const char* name;        /* the model's name, as in messages */
  const char* input;       /* what it encodes: "text" or "pair" */
  size_t output_count;     /* the number of outputs that calls can request; at least 1 */
  size_t prompt_count;     /* the number of prompts in the model's files */
  size_t max_tokens;       /* longer texts and documents are cut to this many tokens. A pair is cut to this many in
                              total, taken from the longer text first */
  size_t max_query_tokens; /* the same for queries */
  int32_t has_routes;      /* 1: queries and documents have separate networks, and both are loaded */
} lb_encoder_info;
/* Describes the encoder. For a router, max_tokens and the outputs are those of documents. */
LB_API lb_code lb_encoder_describe(const lb_encoder* encoder, lb_encoder_info* info);

/* The form of an output's results. */
enum { LB_FORM_DENSE = 0, LB_FORM_SPARSE = 1, LB_FORM_RAGGED = 2, LB_FORM_SCORES = 3 };

/* An output that calls can request. The name is static. */
typedef struct lb_output_info {
  size_t struct_size;
  const char* name;     /* "dense" */
  size_t dimension;     /* numbers in a vector; the number of scores of a pair; for sparse vectors, the size of the
                           vocabulary: indices are below it */
  size_t dimension_max; /* the most that lb_encode_options.dimensions accepts: more than `dimension` if the model's
                           files keep only the first numbers of each vector (truncate_dim) */
  size_t entries_max;   /* for sparse vectors, the most entries that the model keeps for a text; 0 without a limit */
  int32_t form;         /* LB_FORM_… */
} lb_output_info;
/* Describes an output. Returns LB_INVALID_ARGUMENT when `index` is not below output_count. */
LB_API lb_code lb_encoder_output(const lb_encoder* encoder, size_t index, lb_output_info* info);

/* Gives the model's name for a score ("LABEL_0", "entailment"), which lives as long as the encoder. Returns
 * LB_INVALID_ARGUMENT when there is no score with this index. */
LB_API lb_code lb_encoder_label(const lb_encoder* encoder, size_t index, lb_text* label);
/* Gives a prompt of the model's files, in the order of the names, which lives as long as the encoder. `is_default`
 * receives 1 for the prompt of texts without a role, and may be NULL. Returns LB_INVALID_ARGUMENT when `index` is not
 * below prompt_count. */
LB_API lb_code lb_encoder_prompt(const lb_encoder* encoder, size_t index, lb_text* name, lb_text* prompt,
                                 int32_t* is_default);
/* Gives the encoder's tokenizer. */
LB_API lb_code lb_encoder_tokenizer(const lb_encoder* encoder, lb_tokenizer** tokenizer);
/* Tells which device would answer now, and why. */
LB_API lb_code lb_encoder_attestation(const lb_encoder* encoder, lb_attestation** attestation);

/* An output that a call requests. Frozen. */
typedef struct lb_output_request {
  const char* name; /* NULL: the encoder's first output */
  float* rows;     /* unless NULL, rows (dense vectors or scores) are written to this memory and not copied; the results
                      of the call then refer to it */
  size_t capacity; /* the number of floats that `rows` holds */
} lb_output_request;

/* How one call deviates from the encoder's settings. NULL means all fields zero. */
typedef struct lb_encode_options {
  size_t struct_size;
  const lb_output_request* outputs; /* NULL: all outputs of the encoder */
  size_t output_count;
  size_t dimensions;     /* keep only this many leading numbers of each dense vector, and normalise again if the model
                            normalises; for models trained for this (Matryoshka). 0: lb_output_info.dimension.
                            LB_INVALID_ARGUMENT when the call requests results of another form */
  size_t max_tokens;     /* limit for one text or pair, including special tokens; at most max_tokens of the encoder,
                            which 0 means, too */
  int32_t refuse_longer; /* 1: a longer text is LB_TEXT_TOO_LONG instead of being cut */
  int32_t normalize;     /* 1: return dense and ragged vectors of length 1 even if the model does not normalise.
                            LB_INVALID_ARGUMENT when the call requests sparse vectors or scores */
  int32_t alone;         /* 1: use separate batches for this call, so that equal calls give equal bits whatever other
                            calls run. 0: share batches with texts of other calls, which is faster for many calls with
                            few texts */
  int32_t role;          /* the role of the texts: LB_ROLE_QUERY … */
  int32_t raw_scores;    /* 1: the network's numbers as they are, without the sigmoid that the model may apply */
  int32_t reserved_;     /* must be 0, else LB_INVALID_ARGUMENT */
  /* The text put before every text: `prompt` ("" for no text), or the model's prompt named `prompt_name`. If both are
   * NULL, the model decides, and most models have no prompt: "default_prompt_name" of
   * config_sentence_transformers.json; for texts with a role, the prompt "query", or the first of "document", "passage"
   * and "corpus". For late interaction, it replaces the marker of the role ("[Q] "). For pairs, it is the instruction:
   * it precedes the first text, or is the message "system" of the model's chat template. LB_INVALID_ARGUMENT when both
   * are set, when the model has no prompt of that name, and for token ids with a prompt other than "". The strings are
   * not kept. */
  const char* prompt;
  const char* prompt_name;
  /* The name of the model's task for the texts, for a model with low-rank parts for several tasks ("retrieval.query").
   * NULL: the task of the role, or no task. LB_INVALID_ARGUMENT when the model has no task of that name, and when it is
   * NULL and the model requires one. The string is not kept. */
  const char* task;
} lb_encode_options;

typedef struct lb_encode_stats {
  size_t struct_size;
  uint64_t texts;         /* or pairs */
  uint64_t tokens;        /* without padding */
  uint64_t padded_tokens; /* with padding: what was computed */
  uint64_t truncated_texts;
  double seconds;
  uint64_t fallback_texts; /* computed by a device other than the preferred one; see lb_active.fallback */
} lb_encode_stats;

/* The results of one call: one for each requested output. They never change, may be read by many threads, and remain
 * valid after fork() and after their encoder is destroyed. */
typedef struct lb_results lb_results;

/* Computes the requested outputs of `count` texts in one pass. `options`, `call` and `stats` may be NULL. `results` may
 * be NULL if every request has `rows`; otherwise it receives results that the caller destroys. All texts of a call are
 * batched together, so a thousand documents are one call.
 *
 * Returns LB_INVALID_ARGUMENT for a text that is not UTF-8, with the position of text and byte; for an output that is
 * requested twice or that the encoder was not opened with; and for an input that the model does not take (texts for a
 * model of pairs). LB_BUFFER_TOO_SMALL when `rows` is too small. LB_INTERNAL for a vector with non-finite numbers, or a
 * zero vector that must be normalised, with the text's position, device and precision: repeating the call gives the
 * same error, another precision may help. After an error `rows` is unspecified, and `results` receives NULL. */
LB_API lb_code lb_encoder_encode(const lb_encoder* encoder, const lb_text* texts, size_t count,
                                 const lb_encode_options* options, const lb_call_options* call, lb_results** results,
                                 lb_encode_stats* stats);
/* The same for texts that are given as token ids. Also returns LB_INVALID_ARGUMENT for ids that the model does not
 * know, and for texts without ids. */
LB_API lb_code lb_encoder_encode_ids(const lb_encoder* encoder, const lb_token_ids* texts, size_t count,
                                     const lb_encode_options* options, const lb_call_options* call,
                                     lb_results** results, lb_encode_stats* stats);
/* The same for pairs of texts, for a model whose input is "pair". */
LB_API lb_code lb_encoder_encode_pairs(const lb_encoder* encoder, const lb_text_pair* pairs, size_t count,
                                       const lb_encode_options* options, const lb_call_options* call,
                                       lb_results** results, lb_encode_stats* stats);

/* -- Results ------------------------------------------------------------------------------------------------------- */

LB_API void lb_results_destroy(lb_results* results);
/* The number of texts or pairs; 0 for NULL. */
LB_API size_t lb_results_count(const lb_results* results);
/* Gives the number of computed tokens of each text, some of which may have no vector. The pointer lives as long as the
 * results. */
LB_API lb_code lb_results_token_counts(const lb_results* results, const uint32_t** counts);

/* The rows of all texts, in the order of the texts. Frozen. */
typedef struct lb_dense_rows {
  size_t count;
  size_t dimension;    /* numbers in a row */
  const float* values; /* `count` rows, one after the other */
} lb_dense_rows;

/* Sparse vectors as compressed sparse rows, in the order of the texts. Frozen. */
typedef struct lb_sparse_rows {
  size_t count;            /* number of vectors */
  const size_t* begins;    /* count + 1 numbers: vector i has the entries begins[i] to begins[i + 1] - 1 */
  const uint32_t* indices; /* for each entry, its id in the vocabulary; ascending within a vector */
  const float* values;     /* for each entry, its weight; above 0 */
} lb_sparse_rows;

/* The vectors of the tokens of each text, in the order of the texts. Frozen. */
typedef struct lb_ragged_rows {
  size_t count;         /* number of texts */
  size_t dimension;     /* number of floats in each vector */
  const size_t* begins; /* count + 1 numbers: text i has the vectors begins[i] to begins[i + 1] - 1 */
  const float* vectors; /* rows of `dimension` floats; those of a text are in the order of its tokens */
} lb_ragged_rows;

/* Give the results of an output by its name; NULL means the first output that the call requested. The pointers live as
 * long as the results; those of rows that the call wrote to the caller's memory refer to that memory. Return
 * LB_INVALID_ARGUMENT for an output that the call did not request, and for one whose results have another form; the
 * message names the function that reads them. */
LB_API lb_code lb_results_dense(const lb_results* results, const char* output, lb_dense_rows* rows);
LB_API lb_code lb_results_sparse(const lb_results* results, const char* output, lb_sparse_rows* rows);
LB_API lb_code lb_results_ragged(const lb_results* results, const char* output, lb_ragged_rows* rows);
/* A row has one score for each label. */
LB_API lb_code lb_results_scores(const lb_results* results, const char* output, lb_dense_rows* rows);

/* Writes queries->count rows of documents->count scores: for each query and document, the sum, over the query's
 * vectors, of the largest product with any of the document's vectors (MaxSim) or, if the model says so, that sum
 * divided by the number of the query's vectors. The score of a document without vectors is -1e9, and that of a query
 * without vectors 0. The rows may be the caller's own. `capacity` is the number of floats that `scores` holds. Returns
 * LB_INVALID_ARGUMENT when the dimension is not the model's, or `begins` does not ascend from 0; LB_UNSUPPORTED when
 * the encoder has no output "multi_vector". `call` may be NULL. */
LB_API lb_code lb_encoder_compare(const lb_encoder* encoder, const lb_ragged_rows* queries,
                                  const lb_ragged_rows* documents, const lb_call_options* call, float* scores,
                                  size_t capacity);

/* -- Streams ------------------------------------------------------------------------------------------------------- */

/* Encodes an endless sequence of texts in bounded memory: one side pushes texts, the other pulls finished windows of
 * results, in the order of the texts. The two sides may be two threads. The first error that concerns more than one
 * call (a text that is not UTF-8, a device that fails) ends the stream, and all later calls return it. */
typedef struct lb_stream lb_stream;

typedef struct lb_stream_options {
  size_t struct_size;
  size_t window_texts; /* a window is full when it has this many texts; 0: 2048 to 16384, depending on the size of a
                          batch */
  size_t window_bytes; /* or this many bytes of text; 0: 8 MiB */
} lb_stream_options;

/* Opens a stream of the outputs that `options` requests; their `rows` must be NULL. `options` and `windows` may be
 * NULL. A stream does not share batches with other calls. LB_INVALID_ARGUMENT for a model whose input is not "text". */
LB_API lb_code lb_stream_open(const lb_encoder* encoder, const lb_encode_options* options,
                              const lb_stream_options* windows, lb_stream** stream);
/* Destroys the stream, with all windows that have not been pulled. */
LB_API void lb_stream_destroy(lb_stream* stream);

/* Takes texts as long as there is room, without waiting, and writes their number to `taken`. A number below `count`
 * means that windows must be pulled first. Of the texts, only their token ids are kept. */
LB_API lb_code lb_stream_push(lb_stream* stream, const lb_text* texts, size_t count, size_t* taken);
/* Waits until there is room, for a thread that pushes while another one pulls. `call` may be NULL. */
LB_API lb_code lb_stream_wait_for_room(lb_stream* stream, const lb_call_options* call);
/* Ends the sequence: no more texts will be pushed. */
LB_API lb_code lb_stream_finish(lb_stream* stream);

typedef struct lb_window {
  size_t struct_size;
  uint64_t first;            /* position of the window's first text in the stream */
  size_t count;              /* number of texts; 0 at the end of the stream */
  const lb_results* results; /* their results, which belong to the stream and are valid until the next pull. They are
                                not copied, and not valid after fork() */
} lb_window;

/* Waits for the next window, even if another thread has yet to push its texts. If LB_DEADLINE_EXCEEDED or LB_CANCELLED
 * ends the call earlier, no window is lost. `call` may be NULL. */
LB_API lb_code lb_stream_pull(lb_stream* stream, const lb_call_options* call, lb_window* window);

/* Gives the statistics of all windows pulled so far. */
LB_API lb_code lb_stream_stats(const lb_stream* stream, lb_encode_stats* stats);

/* -- Tokens -------------------------------------------------------------------------------------------------------- */

/* Opens the tokenizer of a model folder or bundle. Needs no runtime and no vendor library. */
LB_API lb_code lb_tokenizer_open(const char* model_folder, lb_tokenizer** tokenizer);
LB_API void lb_tokenizer_destroy(lb_tokenizer* tokenizer);

/* Ids are below this number. */
LB_API size_t lb_tokenizer_vocabulary_size(const lb_tokenizer* tokenizer);
/* Gives the token of an id as the vocabulary has it ("##ing", "[CLS]"); it lives as long as the tokenizer. Returns
 * LB_INVALID_ARGUMENT when no token has this id. */
LB_API lb_code lb_tokenizer_token(const lb_tokenizer* tokenizer, int32_t id, lb_text* token);

/* The token ids of several texts. */
typedef struct lb_token_list lb_token_list;

/* Encodes texts as lb_encoder_encode does: with special tokens, and with the model's default prompt before every text.
 * Longer texts are cut to `max_tokens`, which is at most 1,048,576; 0 means the model's limit. */
LB_API lb_code lb_tokenizer_encode(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count, size_t max_tokens,
                                   lb_token_list** list);
/* Like lb_tokenizer_encode, with `max_tokens`, `refuse_longer`, `role`, `prompt` and `prompt_name` of `options`, which
 * may be NULL; the other fields have no influence. */
LB_API lb_code lb_tokenizer_encode_with(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count,
                                        const lb_encode_options* options, lb_token_list** list);
/* Like lb_tokenizer_encode_with, and also records where each token is in its text, counted from the beginning of the
 * prompt. This takes more time and memory. LB_UNSUPPORTED names the part of the tokenizer that cannot give offsets. */
LB_API lb_code lb_tokenizer_encode_with_offsets(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count,
                                                const lb_encode_options* options, lb_token_list** list);
LB_API void lb_token_list_destroy(lb_token_list* list);
/* The number of texts in the list. */
LB_API size_t lb_token_list_count(const lb_token_list* list);
/* Gives the ids of one text; `ids` is valid as long as the list. `is_truncated` receives 1 when the text was cut, and
 * may be NULL. */
LB_API lb_code lb_token_list_get(const lb_token_list* list, size_t index, lb_token_ids* ids, int32_t* is_truncated);

/* The bytes of a text that a token stands for, always whole characters. Both are 0 for the special tokens around a
 * text. Frozen. */
typedef struct lb_token_offsets {
  size_t begin;
  size_t end;
} lb_token_offsets;

/* Gives one entry for each id of the text; valid as long as the list. LB_INVALID_ARGUMENT for a list without
 * offsets. */
LB_API lb_code lb_token_list_offsets(const lb_token_list* list, size_t index, const lb_token_offsets** offsets);
/* Gives what precedes each text of the list: its prompt, or the marker of the role for a multi-vector encoder. Offsets
 * count from the beginning of the prompt. Valid as long as the list. */
LB_API lb_code lb_token_list_prompt(const lb_token_list* list, lb_text* prompt);

/* -- Jobs ---------------------------------------------------------------------------------------------------------- */

/* A command of the program (compile, pull, inspect, unpack, export, warm, verify, cache_list, cache_clear,
 * cache_verify, doctor, devices) that runs on its own thread. Arguments and report are JSON. */
typedef struct lb_job lb_job;

/* Starts the job of that name. `arguments` is a JSON object, or NULL for no arguments. lb_job_kind lists the members,
 * which are named like the command's options, without "--" and with "_" instead of "-". `options` override those of the
 * runtime and may be NULL. Compiled models are cached unless "cache.enabled" is false. Returns LB_INVALID_ARGUMENT for
 * wrong arguments, some of which only lb_job_result reports, and LB_BUSY when 64 jobs are running. */
LB_API lb_code lb_job_start(const lb_runtime* runtime, const char* name, const char* arguments,
                            const lb_options* options, lb_job** job);

typedef struct lb_job_progress {
  size_t struct_size;
  int32_t is_over;
  uint64_t done;      /* bytes while "loading", otherwise steps */
  uint64_t total;     /* 0 while unknown */
  char activity[128]; /* "loading", "compiling npu-v73-f16-1x32"; truncated if longer */
} lb_job_progress;

/* Waits up to `timeout_ms` until the job is over, successfully or not; 0 means no wait. Returns LB_DEADLINE_EXCEEDED
 * while the job is running. `progress` may be NULL, and is written in either case. */
LB_API lb_code lb_job_wait(lb_job* job, uint64_t timeout_ms, lb_job_progress* progress);

/* Returns the job's own code and error, and gives its report as JSON text, which lives as long as the job. Some failed
 * jobs have a report, too; "" means no report. The code says whether the job was done; its findings are in the
 * report ("works", "ready", "damaged"). Call lb_job_wait first: LB_BUSY here means either that the job is running or
 * that it ended with this code. `report` may be NULL. */
LB_API lb_code lb_job_result(lb_job* job, const char** report);

/* Ends the job with LB_CANCELLED at the next point between two steps: pull within about a second; compile, warm and
 * doctor between two devices, after a compilation that a vendor has begun. The other jobs are short and run to their
 * end. */
LB_API void lb_job_cancel(const lb_job* job);

/* Cancels the job and destroys it without waiting. */
LB_API void lb_job_destroy(lb_job* job);

/* A kind of job. All strings are static. */
typedef struct lb_job_kind {
  size_t struct_size;
  const char* name;
  const char* arguments; /* "{model, output, hidden_states}" */
  const char* report;    /* "{file}", or the command whose --help describes the report */
} lb_job_kind;
/* The number of kinds of jobs. */
LB_API size_t lb_job_kind_count(void);
/* Describes a kind of job. Returns LB_INVALID_ARGUMENT when `index` is not below the count. */
LB_API lb_code lb_job_kind_at(size_t index, lb_job_kind* kind);

/* Makes a zeroed struct with its size set: lb_call_options call = LB_INIT(lb_call_options); */
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
