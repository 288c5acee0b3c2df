/* Latebind's contract for plug-ins: backends in a shared library of their own.
 *
 * A plug-in exports one function, lb_backend_entry(). Latebind (the host) calls it once after opening the library and
 * gets a table of functions, the slots. docs/plugins.md describes how a plug-in is found, docs/writing-a-plugin.md how
 * one is written, and docs/plugin-contract.md defines the operators of an lbb_graph.
 *
 * The following rules hold for every slot and for every function of the host:
 *
 * - Growth. Every struct begins with `struct_size`, which its maker sets to sizeof(the struct). A reader does not touch
 *   fields beyond that size and treats them as zero. Structs grow only at their end, numbers never change meaning, and
 *   arrays are arrays of pointers, so that their elements may grow, too. Only the host makes structs for the plug-in to
 *   read and the other way round: no side fills a struct of the other.
 * - Negotiation. The host believes lbb_table.abi only after it has checked the table's size and its required slots.
 *   Optional slots are null where a plug-in does not have them. The host does not call slots beyond the table's size.
 * - Errors. A slot that can fail returns an lbb_code and describes the error with lbb_host.fail(). Exceptions and
 * longjmp must not leave a slot. A plug-in does not end the process and does not write to standard output or standard
 * error; it has lbb_host.log().
 * - Ownership. Each side frees what it allocates. Pointers that a slot receives are valid until the slot returns,
 * unless a comment says otherwise; a plug-in that needs them longer copies what they point to. Pointers in structs that
 * a plug-in fills belong to the plug-in, and the comment says how long they must be valid.
 * - Threads. The host calls slots from any of its threads, and several at once, also for one object, unless a comment
 *   says otherwise. It destroys an object only when no slot is running on it, and never uses it afterwards. A plug-in
 *   may call lbb_host.log() and lbb_host.weight() from any thread. It passes an object that a slot received (an error,
 * a sink, an output) to one thread at a time, and only until the slot returns.
 * - Blocking. Slots marked "cheap" return within a millisecond. Others may take as long as their work does; the host
 *   calls them from threads that may wait, and may give up on one: the slot then finishes on its thread, unobserved.
 * - Unloading. The host never unloads a plug-in. Its threads may live as long as the process.
 * - fork(). The host does not use a plug-in in a child process that was forked after the plug-in was opened.
 * - Strings are UTF-8 and NUL-terminated. A null string that a comment does not allow is an error.
 */
#ifndef LATEBIND_LATEBIND_BACKEND_H
#define LATEBIND_LATEBIND_BACKEND_H

/* NOLINTBEGIN(modernize-use-using,modernize-deprecated-headers): this is C, also where C++ reads it */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the contract that this header describes. */
#define LBB_ABI 1
/* The version of the operators that an lbb_graph may contain. */
#define LBB_OPERATORS 1

/* -- Codes, words and values --------------------------------------------------------------------------------------- */

/* The numbers are those of lb_code in latebind.h. A code decides what the host does: kinds 1xx are the caller's error,
 * which no other device is asked to repair except LBB_UNSUPPORTED; 2xx and 3xx make the host try the next device. */
typedef int32_t lbb_code;
enum {
  LBB_OK = 0,
  LBB_INVALID_ARGUMENT = 100,
  LBB_NOT_FOUND = 101,
  LBB_INVALID_MODEL = 102, /* the model is damaged or contradicts itself */
  LBB_SHAPE_MISMATCH = 103,
  LBB_TYPE_MISMATCH = 104,
  LBB_COUNT_MISMATCH = 105,
  LBB_UNSUPPORTED = 106, /* the plug-in does not do this; the message names the operator, argument or option */
  LBB_BUFFER_TOO_SMALL = 107,
  LBB_LIBRARY_NOT_FOUND = 200, /* a library that the plug-in needs is missing; the message says what to install */
  LBB_LIBRARY_UNUSABLE = 201,
  LBB_DEVICE_NOT_FOUND = 202,
  LBB_INCOMPATIBLE_BLOB = 203, /* the blob is for another device, driver, version or precision */
  LBB_PERMISSION_DENIED = 206,
  LBB_IO = 207,
  LBB_BUSY = 300,
  LBB_DEADLINE_EXCEEDED = 301,
  LBB_OUT_OF_MEMORY = 302,
  LBB_DISK_FULL = 303,
  LBB_DEVICE_FAILED = 304, /* the device is at fault; the host uses another one and probes this one later */
  LBB_CANCELLED = 305,
  LBB_INTERNAL = 400
};

enum { LBB_LOG_DEBUG = 0, LBB_LOG_INFO = 1, LBB_LOG_WARNING = 2, LBB_LOG_ERROR = 3 };

/* Element types; the numbers are those of latebind.h. */
enum {
  LBB_BOOL = 1,
  LBB_I8 = 2,
  LBB_U8 = 3,
  LBB_I16 = 4,
  LBB_U16 = 5,
  LBB_I32 = 6,
  LBB_U32 = 7,
  LBB_I64 = 8,
  LBB_U64 = 9,
  LBB_F16 = 10,
  LBB_BF16 = 11,
  LBB_F32 = 12,
  LBB_F64 = 13
};

/* Precisions in which a device computes. FAST is only asked for: the fastest precision that changes results by little;
 * lbb_active.precision says which one it is. */
enum {
  LBB_PRECISION_F32 = 0,
  LBB_PRECISION_BF16 = 1,
  LBB_PRECISION_F16 = 2,
  LBB_PRECISION_INT8 = 3,
  LBB_PRECISION_FAST = 4
};

enum { LBB_KIND_CPU = 0, LBB_KIND_GPU = 1, LBB_KIND_NPU = 2, LBB_KIND_OTHER = 3 };

/* What a device computes from: bits of lbb_device.reads. */
enum { LBB_READS_GRAPH = 1, LBB_READS_ONNX = 2, LBB_READS_IR = 4 };

enum { LBB_RANK_MAX = 8 };
/* A dimension that is not known before the run. */
#define LBB_DYNAMIC ((int64_t)-1)

typedef struct lbb_pair {
  size_t struct_size;
  const char* key;
  const char* text;
} lbb_pair;

/* A shape, or a list of numbers. */
typedef struct lbb_shape {
  size_t struct_size;
  const int64_t* dims; /* `rank` of them; may be NULL for rank 0 */
  size_t rank;         /* at most LBB_RANK_MAX */
} lbb_shape;

/* -- The host ------------------------------------------------------------------------------------------------------ */

/* Objects of the host that a slot receives. */
typedef struct lbb_error lbb_error;         /* the error of the running slot */
typedef struct lbb_bytes lbb_bytes;         /* takes a blob's bytes */
typedef struct lbb_text lbb_text;           /* takes a text */
typedef struct lbb_devices lbb_devices;     /* takes a list of devices */
typedef struct lbb_diagnosis lbb_diagnosis; /* takes what a plug-in reports about itself */
typedef struct lbb_output lbb_output;       /* the destination of one output of a run */

struct lbb_device;
struct lbb_graph;

typedef struct lbb_host {
  size_t struct_size;
  /* The host speaks all versions of the contract between these two. */
  uint32_t abi_least;
  uint32_t abi_most;
  const char* version; /* Latebind's release: "0.1.0" */

  /* Writes one line to the host's log. May be called from any thread, not from a signal handler. */
  void (*log)(int32_t level, const char* text);
  /* Sets the message of the running slot's error and returns `code`, so that a slot can return the call's value. The
   * message is one line that says what was tried, what was found and what to do. Copies the text; the last call counts.
   */
  lbb_code (*fail)(lbb_error* error, lbb_code code, const char* message);
  /* Adds the vendor's own code and text to the error, unchanged. `text` may be NULL. */
  void (*fail_with_vendor)(lbb_error* error, int64_t vendor_code, const char* text);
  /* For execute() that fails: the executable cannot run any more, so the host has to load the model again. */
  void (*spoil)(lbb_error* error);

  /* Sets a text, which is copied. */
  void (*set_text)(lbb_text* to, const char* text);
  /* Takes bytes, in order and in pieces of any size. Returns an error when they cannot be kept; the slot then returns
   * that code. */
  lbb_code (*write)(lbb_bytes* bytes, const void* data, size_t size);
  /* For compile(): reports a node that the compiler leaves to the processor, as the model describes it. `name` and
   * `shape` may be NULL. */
  void (*add_left_node)(lbb_bytes* bytes, const char* op, const char* name, const char* shape);
  /* Takes a copy of a device. Returns an error when the host refuses it; the slot then returns that code. */
  lbb_code (*add_device)(lbb_devices* devices, const struct lbb_device* device);

  /* Returns memory for an output of that type and shape, where the run writes the tensor row-major and without gaps;
   * NULL when the caller's memory is too small or there is none, in which case the slot returns
   * LBB_BUFFER_TOO_SMALL. The memory is valid until the slot returns. Each output is prepared exactly once in a run. */
  void* (*prepare_output)(lbb_output* output, int32_t type, const int64_t* dims, size_t rank);

  /* Returns the bytes of a weight of a graph, row-major, at any alignment. They are never copied and, unlike the graph,
   * stay valid until lbb_table.destroy_executable() returns, unless lbb_active.releases_weights is 1. NULL when they
   * cannot be read. */
  const void* (*weight)(const struct lbb_graph* graph, uint32_t weight);
  /* Copies `size` bytes of a weight, from `offset` on, for plug-ins that convert weights piece by piece: a file that
   * was truncated meanwhile is an error here and ends the process when memory from weight() is read, and weights that
   * the host computes from a compressed form are never in memory as a whole. */
  lbb_code (*read_weight)(const struct lbb_graph* graph, uint32_t weight, uint64_t offset, void* to, uint64_t size,
                          lbb_error* error);

  /* Reports to a diagnosis. All texts are copied. */
  void (*add_search_step)(lbb_diagnosis* diagnosis, const char* place, const char* source, const char* outcome,
                          int32_t opened);
  void (*add_unavailable)(lbb_diagnosis* diagnosis, const char* name, const char* reason);
  void (*set_install_hint)(lbb_diagnosis* diagnosis, const char* text);
} lbb_host;

/* -- What a plug-in describes -------------------------------------------------------------------------------------- */

/* A setting of the plug-in. It is set as "plugin.NAME.KEY" everywhere, where NAME is lbb_table.name. */
typedef struct lbb_setting {
  size_t struct_size;
  const char* key;          /* lower-case letters, digits and '_': "library" */
  const char* value;        /* what a value looks like: "PATH" */
  const char* help;         /* one paragraph */
  const char* const* words; /* the allowed values; NULL when any text or, with bounds, any number is allowed */
  size_t word_count;
  int32_t is_number; /* 1: a whole number between `least` and `most` */
  int64_t least;
  int64_t most;
} lbb_setting;

/* A device. All pointers must be valid until add_device() returns. */
typedef struct lbb_device {
  size_t struct_size;
  const char* name;            /* letters, digits, '.', '_' and '-': "GPU", "GPU.1", "NPU.4000" */
  int32_t kind;                /* LBB_KIND_… */
  const char* full_name;       /* for people: "Example Accelerator 3000" */
  const char* runtime_version; /* of the library that drives it; may be NULL: lbb_table.version */
  uint32_t reads;              /* LBB_READS_… bits; at least one */
  /* The precisions in which it computes; the first is its default when it does not have f32. At least one. */
  const int32_t* precisions;
  size_t precision_count;
  /* The precisions in which it comes before other devices of its kind, and why. May be NULL. LBB_PRECISION_FAST is
   * asked only of a device that has it here. */
  const int32_t* preferred_in;
  size_t preferred_count;
  const char* preferred_because;
  const char* architecture; /* one word that compile targets use: "v2"; may be NULL */
  const char* pci_id;       /* "8086:46a6"; may be NULL */
  uint64_t memory;          /* its own memory in bytes; 0 when unknown or shared */
  int32_t static_shapes;    /* 1: models must be compiled for fixed input shapes */
  /* 1: the device is not in this machine, but models can be compiled for it. */
  int32_t is_virtual;
  const char* missing;          /* virtual: what to install before compiling; NULL when nothing is missing */
  int32_t is_emulated;          /* virtual: models can also run here, slowly, for checking results */
  const lbb_pair* const* facts; /* what else is reported, such as the driver. Keys are CamelCase words */
  size_t fact_count;
} lbb_device;

/* -- Models -------------------------------------------------------------------------------------------------------- */

/* A block of memory with weights: a file or a part of one. Weights of a part lie at their offsets from one address. */
typedef struct lbb_part {
  size_t struct_size;
  const char* name; /* of the file, without folders: "model.safetensors"; may be "" */
  /* The file, from `file_offset` on, for plug-ins that read or map it themselves; NULL when there is none. The host
   * checks before and after load() that it is the same file and unchanged. */
  const char* file;
  uint64_t file_offset;
  uint64_t size;
} lbb_part;

typedef struct lbb_weight {
  size_t struct_size;
  const char* name; /* unique in the graph */
  int32_t type;     /* LBB_F32, LBB_F16 or LBB_BF16 */
  uint32_t part;
  const int64_t* dims;
  size_t rank;
  uint64_t offset; /* in the part */
  uint64_t bytes;
} lbb_weight;

/* Kinds of an argument, and the field that holds it. */
enum {
  LBB_VALUE = 0,   /* index: a node of the graph that comes before this one */
  LBB_WEIGHT = 1,  /* index: a weight of the graph */
  LBB_INTEGER = 2, /* integer */
  LBB_NUMBER = 3,  /* number */
  LBB_NUMBERS = 4, /* numbers */
  LBB_TEXT = 5     /* text */
};

/* One argument of an operator. A plug-in refuses a node with an argument that it does not know (LBB_UNSUPPORTED, naming
 * both): it changes what the node computes. */
typedef struct lbb_argument {
  size_t struct_size;
  const char* name; /* "x", "weight", "heads" */
  int32_t kind;
  uint32_t index;
  int64_t integer;
  double number;
  const float* numbers;
  size_t number_count;
  const char* text;
} lbb_argument;

typedef struct lbb_node {
  size_t struct_size;
  const char* op; /* "linear", "attention" … */
  int32_t type;   /* of the node's value */
  const int64_t* dims;
  size_t rank;
  const lbb_argument* const* arguments;
  size_t argument_count;
} lbb_node;

typedef struct lbb_graph_output {
  size_t struct_size;
  const char* name;
  size_t node;
} lbb_graph_output;

/* A network at the level of layers. Nodes are in an order in which they can be computed. The inputs of the model are
 * the nodes "input", in their order. Valid until the slot that received it returns. */
typedef struct lbb_graph {
  size_t struct_size;
  uint32_t operators; /* the version of the operators: LBB_OPERATORS of the host */
  const lbb_node* const* nodes;
  size_t node_count;
  const lbb_weight* const* weights;
  size_t weight_count;
  const lbb_part* const* parts;
  size_t part_count;
  const lbb_graph_output* const* outputs;
  size_t output_count;
} lbb_graph;

/* External data of an ONNX model in memory. It stays valid as the bytes of weights do. */
typedef struct lbb_piece {
  size_t struct_size;
  const char* location; /* the name that the model uses */
  const void* data;
  uint64_t size;
  const char* file; /* as lbb_part.file */
  uint64_t file_offset;
} lbb_piece;

/* A model in the forms that the device reads (lbb_device.reads); the others are NULL. At least one is there. The memory
 * of ONNX and IR stays valid as the bytes of weights do. */
typedef struct lbb_model {
  size_t struct_size;
  const char* name; /* for messages */
  const lbb_graph* graph;
  /* ONNX: a file, or the bytes of a ModelProto and its external data. */
  const char* onnx_file;
  const void* onnx;
  uint64_t onnx_size;
  const lbb_piece* const* pieces;
  size_t piece_count;
  /* OpenVINO IR: a file with its .bin beside it, or the XML text and its weights. */
  const char* ir_file;
  const void* ir;
  uint64_t ir_size;
  const void* ir_weights;
  uint64_t ir_weights_size;
} lbb_model;

/* How a model is compiled and loaded. None of the fields is a hint, except `shapes_recur`: a plug-in refuses what it
 * cannot honour with LBB_UNSUPPORTED and names it. */
typedef struct lbb_options {
  size_t struct_size;
  int32_t precision;  /* LBB_PRECISION_…: one of the device's */
  int32_t throughput; /* 0: one run at a time uses everything; 1: several runs proceed side by side */
  uint32_t threads;   /* computing threads for all runs together; 0: as many as the process may use */
  uint32_t requests;  /* runs at the same time; 0: the plug-in chooses */
  /* Which nodes a device may leave to the processor. 0: none; 1: those that compute only with integers and truth
   * values; 2: any. */
  int32_t host_nodes;
  int32_t shapes_recur; /* 1: the shapes of one run come again in later ones; does not change blobs */
  int32_t emulate;      /* 1: a virtual device may run in emulation */
  /* Static shapes of the inputs, in their order; NULL: those that the model declares. */
  const lbb_shape* const* input_shapes;
  size_t input_shape_count;
  /* Properties from the user, for the plug-in alone. An unknown one is an error. */
  const lbb_pair* const* properties;
  size_t property_count;
} lbb_options;

/* -- Executables --------------------------------------------------------------------------------------------------- */

/* An input or output of an executable. */
typedef struct lbb_tensor_info {
  size_t struct_size;
  const char* name;
  int32_t type;
  const int64_t* dims; /* LBB_DYNAMIC where not known before the run */
  size_t rank;
  const int64_t* upper; /* `rank` upper bounds, LBB_DYNAMIC where there is none; may be NULL */
} lbb_tensor_info;

/* What was loaded, as it is after loading and not as it was asked for. */
typedef struct lbb_active {
  size_t struct_size;
  int32_t precision;                    /* not LBB_PRECISION_FAST */
  uint32_t threads;                     /* 0 when unknown */
  uint32_t requests;                    /* the largest number of runs that may execute at once; 0 is an error */
  const char* device;                   /* lbb_device.name */
  const char* full_name;                /* lbb_device.full_name */
  const char* library_file;             /* the vendor's library; may be NULL: the plug-in itself */
  const char* runtime_version;          /* may be NULL: lbb_table.version */
  const lbb_tensor_info* const* inputs; /* in the model's order */
  size_t input_count;
  const lbb_tensor_info* const* outputs;
  size_t output_count;
  int32_t releases_weights;   /* 1: memory of weights, models and blobs is not read any more: the host may release it */
  int32_t leaves_padding_out; /* 1: padding costs nothing: tokens that a mask leaves out are not computed */
  int32_t packs_tokens;       /* 1: padding costs little: only attention is computed for it */
  int32_t compiles_nothing;   /* 1: loading is not worth caching */
  int32_t emulated;           /* 1: an emulator answers, not the device */
  uint64_t kept_shapes; /* the recently used shapes that runs find prepared; 0 when nothing is prepared per shape */
  uint64_t nodes;       /* of the model; 0 when unknown */
  uint64_t host_nodes;  /* how many of them the device leaves to the processor */
} lbb_active;

/* Memory of a device, made by lbb_table.create_buffer(). */
typedef struct lbb_buffer lbb_buffer;

/* A tensor, row-major and without gaps, in memory of the host or in a buffer. */
typedef struct lbb_tensor {
  size_t struct_size;
  int32_t type;
  const int64_t* dims;
  size_t rank;
  const void* data; /* aligned for its type; NULL when `buffer` holds the tensor, and possibly when it is empty */
  lbb_buffer* buffer;
  uint64_t offset; /* of the tensor in the buffer, in bytes */
} lbb_tensor;

/* The circumstances of one run. */
typedef struct lbb_run {
  size_t struct_size;
  /* The time on CLOCK_MONOTONIC (Windows: QueryPerformanceCounter as nanoseconds) at which the caller stops waiting; 0:
   * never. A plug-in that can stop then returns LBB_DEADLINE_EXCEEDED. One that cannot ignores it: the host abandons
   * the run, keeps everything that the run may touch, and counts the device as hung if it does not return. */
  int64_t deadline_ns;
  /* Returns 1 when nobody needs the result any more. A plug-in that can stop then returns LBB_CANCELLED soon. Cheap,
   * for any thread, until the slot returns. May be NULL. */
  int32_t (*is_cancelled)(const struct lbb_run* run);
  /* The number of runs that the caller makes at the same time, this one included; at least 1. A device that divides a
   * run among threads uses a corresponding share of them. */
  size_t side_by_side;
} lbb_run;

/* What a blob was made by and for. */
typedef struct lbb_blob_label {
  size_t struct_size;
  const char* device;          /* lbb_device.name */
  const char* runtime_version; /* lbb_device.runtime_version of the device when the blob was made */
  int32_t precision;
  const char* compatibility; /* the plug-in's own text, which it alone understands; may be "" */
} lbb_blob_label;

/* -- The table ----------------------------------------------------------------------------------------------------- */

typedef struct lbb_backend lbb_backend;       /* the plug-in's state, one for each runtime of the host */
typedef struct lbb_executable lbb_executable; /* a loaded model */

/* The plug-in's functions. The table and everything that it points to never change. */
typedef struct lbb_table {
  size_t struct_size;
  uint32_t abi;        /* the version of the contract that the plug-in uses, within the host's */
  const char* name;    /* the word before the colon of a device's id: lower-case letters, digits and '_' */
  const char* version; /* of the plug-in */
  const char* maker;   /* who answers for it, for people; may be NULL */
  const lbb_setting* const* settings;
  size_t setting_count;

  /* -- Required. -- */

  /* Creates the state. Opens no library and looks at no device. `settings` holds those that are set, by
   * lbb_setting.key, and was checked. The host stays valid as long as the process. */
  lbb_code (*create)(const lbb_host* host, const lbb_pair* const* settings, size_t count, lbb_backend** backend,
                     lbb_error* error);
  /* Destroys the state, after all of its executables and buffers. */
  void (*destroy)(lbb_backend* backend);
  /* Returns LBB_OK when the plug-in can be used. The first call may open libraries; later calls are cheap. A failure is
   * not kept: the next call looks again. */
  lbb_code (*available)(lbb_backend* backend, lbb_error* error);
  /* Gives every device that is present now to lbb_host.add_device(). None is no error. */
  lbb_code (*devices)(lbb_backend* backend, lbb_devices* devices, lbb_error* error);
  /* Loads a model on a device that is present. */
  lbb_code (*load)(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                   lbb_executable** executable, lbb_error* error);
  /* Describes what was loaded. Cheap; the answer does not change and is valid until the executable is destroyed. */
  const lbb_active* (*describe_executable)(lbb_executable* executable);
  /* Runs the model once. The host has checked counts, types and shapes against lbb_active, and calls at most
   * lbb_active.requests runs of one executable at once. On an error the outputs are unspecified and the executable
   * stays usable, unless the plug-in calls lbb_host.spoil(). */
  lbb_code (*execute)(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                      lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error);
  void (*destroy_executable)(lbb_executable* executable);

  /* -- Optional: NULL, or beyond the table's size. -- */

  /* Gives the version of the library that drives the devices to `version`; without the slot it is lbb_table.version.
   * Called when available() has succeeded. */
  lbb_code (*runtime_version)(lbb_backend* backend, lbb_text* version, lbb_error* error);
  /* Says whether load() would take this graph, before weights are read: LBB_UNSUPPORTED names the operator. Cheap. If a
   * device that also reads other forms refuses the graph here, the host gives it one of those. */
  lbb_code (*takes)(lbb_backend* backend, const lbb_graph* graph, const char* device, const lbb_options* options,
                    lbb_error* error);
  /* Does now what the first run would otherwise do. */
  lbb_code (*prepare)(lbb_executable* executable, lbb_error* error);
  /* Asks a run to end soon; for vendors that have such a function. Called at most once for a run and from another
   * thread than execute(), which runs with this lbb_run, is about to, or has just returned. May block. */
  void (*stop_run)(lbb_executable* executable, const lbb_run* run);

  /* Blobs. A plug-in has compile(), check_blob() and load_blob() or none of the four.
   *
   * compile() compiles for a device, which need not be present, writes the blob to `bytes`, and may set
   * `compatibility`, a text that the plug-in alone understands. */
  lbb_code (*compile)(lbb_backend* backend, const lbb_model* model, const char* device, const lbb_options* options,
                      lbb_bytes* bytes, lbb_text* compatibility, lbb_error* error);
  /* Judges a blob by its label before its bytes are read: LBB_INCOMPATIBLE_BLOB when it was made for another device,
   * driver, version or precision. LBB_OK when only the bytes can tell. Cheap. */
  lbb_code (*check_blob)(lbb_backend* backend, const lbb_blob_label* label, const char* device,
                         const lbb_options* options, lbb_error* error);
  /* Loads a blob. The bytes come from a file that may be damaged or hostile. They stay valid until
   * destroy_executable() returns, unless lbb_active.releases_weights is 1. */
  lbb_code (*load_blob)(lbb_backend* backend, const void* data, uint64_t size, const lbb_blob_label* label,
                        const char* device, const lbb_options* options, lbb_executable** executable, lbb_error* error);
  /* Writes the blob of a loaded model, so that it need not be compiled again; load_blob() of it computes the same
   * results, bit for bit. Called at most once, possibly while runs execute. */
  lbb_code (*export_blob)(lbb_executable* executable, lbb_bytes* bytes, lbb_text* compatibility, lbb_error* error);

  /* Gives the devices that are not in this machine but can be compiled for. */
  lbb_code (*virtual_devices)(lbb_backend* backend, lbb_devices* devices, lbb_error* error);
  /* Says in one line why a device of this name is not offered, and what to type. Sets nothing when it does not know. */
  void (*why_not)(lbb_backend* backend, const char* device, lbb_text* reason);
  /* Reports where libraries were searched and which parts cannot be used. */
  void (*diagnose)(lbb_backend* backend, lbb_diagnosis* diagnosis);
  /* Gives the table of what the device computes differently from ONNX, in the form of docs/verifying.md. For devices
   * that read ONNX. */
  lbb_code (*known_errors)(lbb_backend* backend, lbb_text* table, lbb_error* error);

  /* Memory that stays on the device, for tensors that one run writes and another reads. A plug-in has all five or none.
   * read_buffer() and write_buffer() copy and may block; the host has checked the ranges. */
  lbb_code (*create_buffer)(lbb_backend* backend, const char* device, uint64_t size, lbb_buffer** buffer,
                            lbb_error* error);
  void (*destroy_buffer)(lbb_buffer* buffer);
  lbb_code (*write_buffer)(lbb_buffer* buffer, uint64_t offset, const void* data, uint64_t size, lbb_error* error);
  lbb_code (*read_buffer)(lbb_buffer* buffer, uint64_t offset, void* data, uint64_t size, lbb_error* error);
  /* Like execute(), with outputs in buffers. Their tensors have the types and static shapes that the caller expects;
   * LBB_SHAPE_MISMATCH when the run gives others. */
  lbb_code (*execute_to_buffers)(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                                 const lbb_tensor* const* outputs, size_t output_count, const lbb_run* run,
                                 lbb_error* error);
} lbb_table;

/* The type of the function that a plug-in exports under the name LBB_ENTRY. It sets `table` to a table that stays valid
 * as long as the process, or returns an error: LBB_UNSUPPORTED when the plug-in speaks no version of the contract
 * between host->abi_least and host->abi_most. The host stays valid as long as the process. Called from one thread. */
typedef lbb_code (*lbb_entry)(const lbb_host* host, const lbb_table** table, lbb_error* error);
#define LBB_ENTRY "lb_backend_entry"

#if defined(_WIN32)
#define LBB_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define LBB_EXPORT __attribute__((visibility("default")))
#else
#define LBB_EXPORT
#endif

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-use-using,modernize-deprecated-headers) */

#endif
