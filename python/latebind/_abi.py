"""The C interface of Latebind for ctypes. Generated from latebind.h by scripts/generate_python_abi; do not edit.

latebind.h documents it. Pointers to structs that carry their size are typed; all other pointers are addresses.
"""

from collections.abc import Callable
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Array,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

LATEBIND_ABI_VERSION = 2
LB_RANK_MAX = 8
LB_DYNAMIC = -1
LB_OK = 0
LB_INVALID_ARGUMENT = 100
LB_NOT_FOUND = 101
LB_INVALID_MODEL = 102
LB_SHAPE_MISMATCH = 103
LB_TYPE_MISMATCH = 104
LB_COUNT_MISMATCH = 105
LB_UNSUPPORTED = 106
LB_BUFFER_TOO_SMALL = 107
LB_TEXT_TOO_LONG = 108
LB_LIBRARY_NOT_FOUND = 200
LB_LIBRARY_UNUSABLE = 201
LB_DEVICE_NOT_FOUND = 202
LB_INCOMPATIBLE_BLOB = 203
LB_NO_DEVICE = 204
LB_STRICT_FALLBACK = 205
LB_PERMISSION_DENIED = 206
LB_IO = 207
LB_BUSY = 300
LB_DEADLINE_EXCEEDED = 301
LB_OUT_OF_MEMORY = 302
LB_DISK_FULL = 303
LB_DEVICE_FAILED = 304
LB_CANCELLED = 305
LB_INTERNAL = 400
LB_LOG_DEBUG = 0
LB_LOG_INFO = 1
LB_LOG_WARNING = 2
LB_LOG_ERROR = 3
LB_DEVICE_CPU = 0
LB_DEVICE_GPU = 1
LB_DEVICE_NPU = 2
LB_DEVICE_OTHER = 3
LB_BOOL = 1
LB_I8 = 2
LB_U8 = 3
LB_I16 = 4
LB_U16 = 5
LB_I32 = 6
LB_U32 = 7
LB_I64 = 8
LB_U64 = 9
LB_F16 = 10
LB_BF16 = 11
LB_F32 = 12
LB_F64 = 13
LB_FORMAT_ONNX = 0
LB_FORMAT_OPENVINO_IR = 1
LB_FORMAT_BUNDLE = 2
LB_FORMAT_OPENVINO_BLOB = 3
LB_FORMAT_BY_FIRST_BYTES = 4
LB_ROLE_UNSPECIFIED = 0
LB_ROLE_QUERY = 1
LB_ROLE_DOCUMENT = 2
LB_FORM_DENSE = 0
LB_FORM_SPARSE = 1
LB_FORM_RAGGED = 2
LB_FORM_SCORES = 3

lb_log_callback = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


class lb_error(Structure):
    struct_size: int
    code: int
    retryable: int
    message: bytes | None
    has_vendor_code: int
    vendor_code: int
    vendor_text: bytes | None
    details: bytes | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("code", c_int32),
        ("retryable", c_int32),
        ("message", c_char_p),
        ("has_vendor_code", c_int32),
        ("vendor_code", c_int64),
        ("vendor_text", c_char_p),
        ("details", c_char_p),
    ]


class lb_option_value(Structure):
    struct_size: int
    is_set: int
    text: bytes | None
    origin: bytes | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("is_set", c_int32),
        ("text", c_char_p),
        ("origin", c_char_p),
    ]


class lb_option_info(Structure):
    struct_size: int
    key: bytes | None
    value: bytes | None
    default_text: bytes | None
    help: bytes | None
    environment: bytes | None
    flag: bytes | None
    of_model: int
    _fields_ = [
        ("struct_size", c_size_t),
        ("key", c_char_p),
        ("value", c_char_p),
        ("default_text", c_char_p),
        ("help", c_char_p),
        ("environment", c_char_p),
        ("flag", c_char_p),
        ("of_model", c_int32),
    ]


class lb_call_options(Structure):
    struct_size: int
    timeout_ms: int
    cancellation: int | None
    answered_by: int | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("timeout_ms", c_uint64),
        ("cancellation", c_void_p),
        ("answered_by", c_void_p),
    ]


class lb_device(Structure):
    struct_size: int
    id: bytes | None
    backend: bytes | None
    name: bytes | None
    kind: int
    is_virtual: int
    full_name: bytes | None
    runtime_version: bytes | None
    metadata_count: int
    metadata_keys: Any
    metadata_values: Any
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_char_p),
        ("backend", c_char_p),
        ("name", c_char_p),
        ("kind", c_int32),
        ("is_virtual", c_int32),
        ("full_name", c_char_p),
        ("runtime_version", c_char_p),
        ("metadata_count", c_size_t),
        ("metadata_keys", POINTER(c_char_p)),
        ("metadata_values", POINTER(c_char_p)),
    ]


class lb_backend(Structure):
    struct_size: int
    name: bytes | None
    code: int
    reason: bytes | None
    runtime_version: bytes | None
    install_hint: bytes | None
    known_errors: bytes | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("code", c_int32),
        ("reason", c_char_p),
        ("runtime_version", c_char_p),
        ("install_hint", c_char_p),
        ("known_errors", c_char_p),
    ]


class lb_tensor(Structure):
    data: int | None
    type: int
    rank: int
    strided: int
    reserved_: int
    shape: Array[Any]
    strides: Array[Any]
    _fields_ = [
        ("data", c_void_p),
        ("type", c_int32),
        ("rank", c_int32),
        ("strided", c_int32),
        ("reserved_", c_int32),
        ("shape", c_int64 * LB_RANK_MAX),
        ("strides", c_int64 * LB_RANK_MAX),
    ]


class lb_active(Structure):
    struct_size: int
    backend: bytes | None
    device: bytes | None
    device_full_name: bytes | None
    runtime_version: bytes | None
    library_file: bytes | None
    precision: bytes | None
    threads: int
    requests: int
    fallback: int
    reason: bytes | None
    static_lengths: int | None
    static_length_count: int
    static_rows: int
    hung_runs: int
    emulated: int
    nodes: int
    host_nodes: int
    verification: bytes | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("backend", c_char_p),
        ("device", c_char_p),
        ("device_full_name", c_char_p),
        ("runtime_version", c_char_p),
        ("library_file", c_char_p),
        ("precision", c_char_p),
        ("threads", c_uint32),
        ("requests", c_uint32),
        ("fallback", c_int32),
        ("reason", c_char_p),
        ("static_lengths", c_void_p),
        ("static_length_count", c_size_t),
        ("static_rows", c_size_t),
        ("hung_runs", c_size_t),
        ("emulated", c_int32),
        ("nodes", c_size_t),
        ("host_nodes", c_size_t),
        ("verification", c_char_p),
    ]


class lb_placement_step(Structure):
    struct_size: int
    device: bytes | None
    taken: int
    reason: bytes | None
    details: bytes | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("taken", c_int32),
        ("reason", c_char_p),
        ("details", c_char_p),
    ]


class lb_external_data(Structure):
    location: bytes | None
    data: int | None
    size: int
    _fields_ = [
        ("location", c_char_p),
        ("data", c_void_p),
        ("size", c_size_t),
    ]


class lb_model_memory(Structure):
    struct_size: int
    format: int
    graph: int | None
    graph_size: int
    weights: int | None
    weights_size: int
    release: Any
    context: int | None
    name: bytes | None
    external: int | None
    external_count: int
    external_files: Any
    _fields_ = [
        ("struct_size", c_size_t),
        ("format", c_int32),
        ("graph", c_void_p),
        ("graph_size", c_size_t),
        ("weights", c_void_p),
        ("weights_size", c_size_t),
        ("release", CFUNCTYPE(None, c_void_p)),
        ("context", c_void_p),
        ("name", c_char_p),
        ("external", c_void_p),
        ("external_count", c_size_t),
        ("external_files", POINTER(c_char_p)),
    ]


class lb_tensor_info(Structure):
    struct_size: int
    name: bytes | None
    type: int
    rank: int
    shape: Array[Any]
    upper: Array[Any]
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("type", c_int32),
        ("rank", c_int32),
        ("shape", c_int64 * LB_RANK_MAX),
        ("upper", c_int64 * LB_RANK_MAX),
    ]


class lb_text(Structure):
    data: bytes | None
    size: int
    _fields_ = [
        ("data", c_char_p),
        ("size", c_size_t),
    ]


class lb_text_pair(Structure):
    first: lb_text
    second: lb_text
    _fields_ = [
        ("first", lb_text),
        ("second", lb_text),
    ]


class lb_token_ids(Structure):
    ids: int | None
    count: int
    _fields_ = [
        ("ids", c_void_p),
        ("count", c_size_t),
    ]


class lb_encoder_options(Structure):
    struct_size: int
    outputs: Any
    output_count: int
    role: int
    reserved_: int
    _fields_ = [
        ("struct_size", c_size_t),
        ("outputs", POINTER(c_char_p)),
        ("output_count", c_size_t),
        ("role", c_int32),
        ("reserved_", c_int32),
    ]


class lb_encoder_info(Structure):
    struct_size: int
    name: bytes | None
    input: bytes | None
    output_count: int
    prompt_count: int
    max_tokens: int
    max_query_tokens: int
    has_routes: int
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("input", c_char_p),
        ("output_count", c_size_t),
        ("prompt_count", c_size_t),
        ("max_tokens", c_size_t),
        ("max_query_tokens", c_size_t),
        ("has_routes", c_int32),
    ]


class lb_output_info(Structure):
    struct_size: int
    name: bytes | None
    dimension: int
    dimension_max: int
    entries_max: int
    form: int
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("dimension", c_size_t),
        ("dimension_max", c_size_t),
        ("entries_max", c_size_t),
        ("form", c_int32),
    ]


class lb_output_request(Structure):
    name: bytes | None
    rows: int | None
    capacity: int
    _fields_ = [
        ("name", c_char_p),
        ("rows", c_void_p),
        ("capacity", c_size_t),
    ]


class lb_encode_options(Structure):
    struct_size: int
    outputs: int | None
    output_count: int
    dimensions: int
    max_tokens: int
    refuse_longer: int
    normalize: int
    alone: int
    role: int
    raw_scores: int
    reserved_: int
    prompt: bytes | None
    prompt_name: bytes | None
    task: bytes | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("outputs", c_void_p),
        ("output_count", c_size_t),
        ("dimensions", c_size_t),
        ("max_tokens", c_size_t),
        ("refuse_longer", c_int32),
        ("normalize", c_int32),
        ("alone", c_int32),
        ("role", c_int32),
        ("raw_scores", c_int32),
        ("reserved_", c_int32),
        ("prompt", c_char_p),
        ("prompt_name", c_char_p),
        ("task", c_char_p),
    ]


class lb_encode_stats(Structure):
    struct_size: int
    texts: int
    tokens: int
    padded_tokens: int
    truncated_texts: int
    seconds: float
    fallback_texts: int
    _fields_ = [
        ("struct_size", c_size_t),
        ("texts", c_uint64),
        ("tokens", c_uint64),
        ("padded_tokens", c_uint64),
        ("truncated_texts", c_uint64),
        ("seconds", c_double),
        ("fallback_texts", c_uint64),
    ]


class lb_dense_rows(Structure):
    count: int
    dimension: int
    values: int | None
    _fields_ = [
        ("count", c_size_t),
        ("dimension", c_size_t),
        ("values", c_void_p),
    ]


class lb_sparse_rows(Structure):
    count: int
    begins: int | None
    indices: int | None
    values: int | None
    _fields_ = [
        ("count", c_size_t),
        ("begins", c_void_p),
        ("indices", c_void_p),
        ("values", c_void_p),
    ]


class lb_ragged_rows(Structure):
    count: int
    dimension: int
    begins: int | None
    vectors: int | None
    _fields_ = [
        ("count", c_size_t),
        ("dimension", c_size_t),
        ("begins", c_void_p),
        ("vectors", c_void_p),
    ]


class lb_stream_options(Structure):
    struct_size: int
    window_texts: int
    window_bytes: int
    _fields_ = [
        ("struct_size", c_size_t),
        ("window_texts", c_size_t),
        ("window_bytes", c_size_t),
    ]


class lb_window(Structure):
    struct_size: int
    first: int
    count: int
    results: int | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("first", c_uint64),
        ("count", c_size_t),
        ("results", c_void_p),
    ]


class lb_token_offsets(Structure):
    begin: int
    end: int
    _fields_ = [
        ("begin", c_size_t),
        ("end", c_size_t),
    ]


class lb_job_progress(Structure):
    struct_size: int
    is_over: int
    done: int
    total: int
    activity: bytes
    _fields_ = [
        ("struct_size", c_size_t),
        ("is_over", c_int32),
        ("done", c_uint64),
        ("total", c_uint64),
        ("activity", c_char * 128),
    ]


class lb_job_kind(Structure):
    struct_size: int
    name: bytes | None
    arguments: bytes | None
    report: bytes | None
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("arguments", c_char_p),
        ("report", c_char_p),
    ]


# By name: what it returns, and what it takes.
SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "lb_abi_version": (c_uint32, ()),
    "lb_version": (c_char_p, ()),
    "lb_last_error": (None, (POINTER(lb_error),)),
    "lb_code_name": (c_char_p, (c_int32,)),
    "lb_set_log": (None, (lb_log_callback, c_void_p, c_int32)),
    "lb_options_create": (c_int32, (c_void_p,)),
    "lb_options_destroy": (None, (c_void_p,)),
    "lb_options_set": (c_int32, (c_void_p, c_char_p, c_char_p)),
    "lb_options_read_file": (c_int32, (c_void_p, c_char_p)),
    "lb_options_read_environment": (c_int32, (c_void_p,)),
    "lb_options_read_standard": (c_int32, (c_void_p, c_char_p)),
    "lb_options_apply": (c_int32, (c_void_p, c_void_p)),
    "lb_options_get": (c_int32, (c_void_p, c_char_p, POINTER(lb_option_value))),
    "lb_option_count": (c_size_t, ()),
    "lb_option_at": (c_int32, (c_size_t, POINTER(lb_option_info))),
    "lb_option_find": (c_int32, (c_char_p, POINTER(lb_option_info))),
    "lb_cancellation_create": (c_int32, (c_void_p,)),
    "lb_cancellation_request": (None, (c_void_p,)),
    "lb_cancellation_destroy": (None, (c_void_p,)),
    "lb_runtime_create": (c_int32, (c_void_p, c_void_p)),
    "lb_runtime_destroy": (None, (c_void_p,)),
    "lb_runtime_check": (c_int32, (c_void_p,)),
    "lb_runtime_check_options": (c_int32, (c_void_p, c_void_p)),
    "lb_device_list_create": (c_int32, (c_void_p, c_int32, c_void_p)),
    "lb_device_list_targets": (c_int32, (c_void_p, POINTER(c_char_p), c_size_t, c_void_p)),
    "lb_device_list_destroy": (None, (c_void_p,)),
    "lb_device_list_count": (c_size_t, (c_void_p,)),
    "lb_device_list_get": (c_int32, (c_void_p, c_size_t, POINTER(lb_device))),
    "lb_device_list_backend_count": (c_size_t, (c_void_p,)),
    "lb_device_list_backend": (c_int32, (c_void_p, c_size_t, POINTER(lb_backend))),
    "lb_output_create": (c_int32, (c_void_p, c_size_t, c_void_p)),
    "lb_output_bind": (c_int32, (c_void_p, c_void_p, c_size_t)),
    "lb_output_destroy": (None, (c_void_p,)),
    "lb_output_get": (c_int32, (c_void_p, c_void_p)),
    "lb_attestation_destroy": (None, (c_void_p,)),
    "lb_attestation_get": (c_int32, (c_void_p, POINTER(lb_active))),
    "lb_attestation_step_count": (c_size_t, (c_void_p,)),
    "lb_attestation_step": (c_int32, (c_void_p, c_size_t, POINTER(lb_placement_step))),
    "lb_model_load_file": (c_int32, (c_void_p, c_char_p, c_void_p, POINTER(lb_call_options), c_void_p)),
    "lb_model_load_memory": (
        c_int32,
        (
            c_void_p,
            POINTER(lb_model_memory),
            c_void_p,
            POINTER(lb_call_options),
            c_void_p,
        ),
    ),
    "lb_model_destroy": (None, (c_void_p,)),
    "lb_model_input_count": (c_size_t, (c_void_p,)),
    "lb_model_output_count": (c_size_t, (c_void_p,)),
    "lb_model_input": (c_int32, (c_void_p, c_size_t, POINTER(lb_tensor_info))),
    "lb_model_output": (c_int32, (c_void_p, c_size_t, POINTER(lb_tensor_info))),
    "lb_model_run": (c_int32, (c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, POINTER(lb_call_options))),
    "lb_model_attestation": (c_int32, (c_void_p, c_void_p)),
    "lb_encoder_open": (
        c_int32,
        (
            c_void_p,
            c_char_p,
            c_void_p,
            POINTER(lb_encoder_options),
            POINTER(lb_call_options),
            c_void_p,
        ),
    ),
    "lb_encoder_destroy": (None, (c_void_p,)),
    "lb_encoder_describe": (c_int32, (c_void_p, POINTER(lb_encoder_info))),
    "lb_encoder_output": (c_int32, (c_void_p, c_size_t, POINTER(lb_output_info))),
    "lb_encoder_label": (c_int32, (c_void_p, c_size_t, c_void_p)),
    "lb_encoder_prompt": (c_int32, (c_void_p, c_size_t, c_void_p, c_void_p, c_void_p)),
    "lb_encoder_tokenizer": (c_int32, (c_void_p, c_void_p)),
    "lb_encoder_attestation": (c_int32, (c_void_p, c_void_p)),
    "lb_encoder_encode": (
        c_int32,
        (
            c_void_p,
            c_void_p,
            c_size_t,
            POINTER(lb_encode_options),
            POINTER(lb_call_options),
            c_void_p,
            POINTER(lb_encode_stats),
        ),
    ),
    "lb_encoder_encode_ids": (
        c_int32,
        (
            c_void_p,
            c_void_p,
            c_size_t,
            POINTER(lb_encode_options),
            POINTER(lb_call_options),
            c_void_p,
            POINTER(lb_encode_stats),
        ),
    ),
    "lb_encoder_encode_pairs": (
        c_int32,
        (
            c_void_p,
            c_void_p,
            c_size_t,
            POINTER(lb_encode_options),
            POINTER(lb_call_options),
            c_void_p,
            POINTER(lb_encode_stats),
        ),
    ),
    "lb_results_destroy": (None, (c_void_p,)),
    "lb_results_count": (c_size_t, (c_void_p,)),
    "lb_results_token_counts": (c_int32, (c_void_p, c_void_p)),
    "lb_results_dense": (c_int32, (c_void_p, c_char_p, c_void_p)),
    "lb_results_sparse": (c_int32, (c_void_p, c_char_p, c_void_p)),
    "lb_results_ragged": (c_int32, (c_void_p, c_char_p, c_void_p)),
    "lb_results_scores": (c_int32, (c_void_p, c_char_p, c_void_p)),
    "lb_encoder_compare": (c_int32, (c_void_p, c_void_p, c_void_p, POINTER(lb_call_options), c_void_p, c_size_t)),
    "lb_stream_open": (c_int32, (c_void_p, POINTER(lb_encode_options), POINTER(lb_stream_options), c_void_p)),
    "lb_stream_destroy": (None, (c_void_p,)),
    "lb_stream_push": (c_int32, (c_void_p, c_void_p, c_size_t, c_void_p)),
    "lb_stream_wait_for_room": (c_int32, (c_void_p, POINTER(lb_call_options))),
    "lb_stream_finish": (c_int32, (c_void_p,)),
    "lb_stream_pull": (c_int32, (c_void_p, POINTER(lb_call_options), POINTER(lb_window))),
    "lb_stream_stats": (c_int32, (c_void_p, POINTER(lb_encode_stats))),
    "lb_tokenizer_open": (c_int32, (c_char_p, c_void_p)),
    "lb_tokenizer_destroy": (None, (c_void_p,)),
    "lb_tokenizer_vocabulary_size": (c_size_t, (c_void_p,)),
    "lb_tokenizer_token": (c_int32, (c_void_p, c_int32, c_void_p)),
    "lb_tokenizer_encode": (c_int32, (c_void_p, c_void_p, c_size_t, c_size_t, c_void_p)),
    "lb_tokenizer_encode_with": (c_int32, (c_void_p, c_void_p, c_size_t, POINTER(lb_encode_options), c_void_p)),
    "lb_tokenizer_encode_with_offsets": (c_int32, (c_void_p, c_void_p, c_size_t, POINTER(lb_encode_options), c_void_p)),
    "lb_token_list_destroy": (None, (c_void_p,)),
    "lb_token_list_count": (c_size_t, (c_void_p,)),
    "lb_token_list_get": (c_int32, (c_void_p, c_size_t, c_void_p, c_void_p)),
    "lb_token_list_offsets": (c_int32, (c_void_p, c_size_t, c_void_p)),
    "lb_token_list_prompt": (c_int32, (c_void_p, c_void_p)),
    "lb_job_start": (c_int32, (c_void_p, c_char_p, c_char_p, c_void_p, c_void_p)),
    "lb_job_wait": (c_int32, (c_void_p, c_uint64, POINTER(lb_job_progress))),
    "lb_job_result": (c_int32, (c_void_p, POINTER(c_char_p))),
    "lb_job_cancel": (None, (c_void_p,)),
    "lb_job_destroy": (None, (c_void_p,)),
    "lb_job_kind_count": (c_size_t, ()),
    "lb_job_kind_at": (c_int32, (c_size_t, POINTER(lb_job_kind))),
}


class Functions:
    """The functions of a library that is open, by their names in C."""

    lb_abi_version: Callable[..., int]
    lb_version: Callable[..., bytes | None]
    lb_last_error: Callable[..., None]
    lb_code_name: Callable[..., bytes | None]
    lb_set_log: Callable[..., None]
    lb_options_create: Callable[..., int]
    lb_options_destroy: Callable[..., None]
    lb_options_set: Callable[..., int]
    lb_options_read_file: Callable[..., int]
    lb_options_read_environment: Callable[..., int]
    lb_options_read_standard: Callable[..., int]
    lb_options_apply: Callable[..., int]
    lb_options_get: Callable[..., int]
    lb_option_count: Callable[..., int]
    lb_option_at: Callable[..., int]
    lb_option_find: Callable[..., int]
    lb_cancellation_create: Callable[..., int]
    lb_cancellation_request: Callable[..., None]
    lb_cancellation_destroy: Callable[..., None]
    lb_runtime_create: Callable[..., int]
    lb_runtime_destroy: Callable[..., None]
    lb_runtime_check: Callable[..., int]
    lb_runtime_check_options: Callable[..., int]
    lb_device_list_create: Callable[..., int]
    lb_device_list_targets: Callable[..., int]
    lb_device_list_destroy: Callable[..., None]
    lb_device_list_count: Callable[..., int]
    lb_device_list_get: Callable[..., int]
    lb_device_list_backend_count: Callable[..., int]
    lb_device_list_backend: Callable[..., int]
    lb_output_create: Callable[..., int]
    lb_output_bind: Callable[..., int]
    lb_output_destroy: Callable[..., None]
    lb_output_get: Callable[..., int]
    lb_attestation_destroy: Callable[..., None]
    lb_attestation_get: Callable[..., int]
    lb_attestation_step_count: Callable[..., int]
    lb_attestation_step: Callable[..., int]
    lb_model_load_file: Callable[..., int]
    lb_model_load_memory: Callable[..., int]
    lb_model_destroy: Callable[..., None]
    lb_model_input_count: Callable[..., int]
    lb_model_output_count: Callable[..., int]
    lb_model_input: Callable[..., int]
    lb_model_output: Callable[..., int]
    lb_model_run: Callable[..., int]
    lb_model_attestation: Callable[..., int]
    lb_encoder_open: Callable[..., int]
    lb_encoder_destroy: Callable[..., None]
    lb_encoder_describe: Callable[..., int]
    lb_encoder_output: Callable[..., int]
    lb_encoder_label: Callable[..., int]
    lb_encoder_prompt: Callable[..., int]
    lb_encoder_tokenizer: Callable[..., int]
    lb_encoder_attestation: Callable[..., int]
    lb_encoder_encode: Callable[..., int]
    lb_encoder_encode_ids: Callable[..., int]
    lb_encoder_encode_pairs: Callable[..., int]
    lb_results_destroy: Callable[..., None]
    lb_results_count: Callable[..., int]
    lb_results_token_counts: Callable[..., int]
    lb_results_dense: Callable[..., int]
    lb_results_sparse: Callable[..., int]
    lb_results_ragged: Callable[..., int]
    lb_results_scores: Callable[..., int]
    lb_encoder_compare: Callable[..., int]
    lb_stream_open: Callable[..., int]
    lb_stream_destroy: Callable[..., None]
    lb_stream_push: Callable[..., int]
    lb_stream_wait_for_room: Callable[..., int]
    lb_stream_finish: Callable[..., int]
    lb_stream_pull: Callable[..., int]
    lb_stream_stats: Callable[..., int]
    lb_tokenizer_open: Callable[..., int]
    lb_tokenizer_destroy: Callable[..., None]
    lb_tokenizer_vocabulary_size: Callable[..., int]
    lb_tokenizer_token: Callable[..., int]
    lb_tokenizer_encode: Callable[..., int]
    lb_tokenizer_encode_with: Callable[..., int]
    lb_tokenizer_encode_with_offsets: Callable[..., int]
    lb_token_list_destroy: Callable[..., None]
    lb_token_list_count: Callable[..., int]
    lb_token_list_get: Callable[..., int]
    lb_token_list_offsets: Callable[..., int]
    lb_token_list_prompt: Callable[..., int]
    lb_job_start: Callable[..., int]
    lb_job_wait: Callable[..., int]
    lb_job_result: Callable[..., int]
    lb_job_cancel: Callable[..., None]
    lb_job_destroy: Callable[..., None]
    lb_job_kind_count: Callable[..., int]
    lb_job_kind_at: Callable[..., int]
