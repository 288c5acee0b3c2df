/* The layout of the C interface, frozen by compiling this: what changes here breaks programs that were compiled before.
 * Structs with a struct_size may grow at their end (its SIZE changes then, nothing else); the others never change. */
#include <stddef.h>

#include "latebind/latebind.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "the size of " #type)
#define FIELD(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define VALUE(name, value) _Static_assert(name == (value), #name)

_Static_assert(sizeof(void*) == 8 && sizeof(size_t) == 8, "these are the layouts of 64-bit systems");
VALUE(LATEBIND_ABI_VERSION, 2);
VALUE(LB_RANK_MAX, 8);
VALUE(LB_DYNAMIC, -1);
SIZE(lb_code, 4);
VALUE(LB_OK, 0);
VALUE(LB_INVALID_ARGUMENT, 100);
VALUE(LB_NOT_FOUND, 101);
VALUE(LB_INVALID_MODEL, 102);
VALUE(LB_SHAPE_MISMATCH, 103);
VALUE(LB_TYPE_MISMATCH, 104);
VALUE(LB_COUNT_MISMATCH, 105);
VALUE(LB_UNSUPPORTED, 106);
VALUE(LB_BUFFER_TOO_SMALL, 107);
VALUE(LB_TEXT_TOO_LONG, 108);
VALUE(LB_LIBRARY_NOT_FOUND, 200);
VALUE(LB_LIBRARY_UNUSABLE, 201);
VALUE(LB_DEVICE_NOT_FOUND, 202);
VALUE(LB_INCOMPATIBLE_BLOB, 203);
VALUE(LB_NO_DEVICE, 204);
VALUE(LB_STRICT_FALLBACK, 205);
VALUE(LB_PERMISSION_DENIED, 206);
VALUE(LB_IO, 207);
VALUE(LB_BUSY, 300);
VALUE(LB_DEADLINE_EXCEEDED, 301);
VALUE(LB_OUT_OF_MEMORY, 302);
VALUE(LB_DISK_FULL, 303);
VALUE(LB_DEVICE_FAILED, 304);
VALUE(LB_CANCELLED, 305);
VALUE(LB_INTERNAL, 400);
VALUE(LB_BOOL, 1);
VALUE(LB_I8, 2);
VALUE(LB_U8, 3);
VALUE(LB_I16, 4);
VALUE(LB_U16, 5);
VALUE(LB_I32, 6);
VALUE(LB_U32, 7);
VALUE(LB_I64, 8);
VALUE(LB_U64, 9);
VALUE(LB_F16, 10);
VALUE(LB_BF16, 11);
VALUE(LB_F32, 12);
VALUE(LB_F64, 13);
VALUE(LB_ROLE_UNSPECIFIED, 0);
VALUE(LB_ROLE_QUERY, 1);
VALUE(LB_ROLE_DOCUMENT, 2);
VALUE(LB_FORM_DENSE, 0);
VALUE(LB_FORM_SPARSE, 1);
VALUE(LB_FORM_RAGGED, 2);
VALUE(LB_FORM_SCORES, 3);
VALUE(LB_FORMAT_ONNX, 0);
VALUE(LB_FORMAT_OPENVINO_IR, 1);
VALUE(LB_FORMAT_BUNDLE, 2);
VALUE(LB_FORMAT_OPENVINO_BLOB, 3);
VALUE(LB_FORMAT_BY_FIRST_BYTES, 4);

SIZE(lb_error, 56);
FIELD(lb_error, struct_size, 0);
FIELD(lb_error, code, 8);
FIELD(lb_error, retryable, 12);
FIELD(lb_error, message, 16);
FIELD(lb_error, has_vendor_code, 24);
FIELD(lb_error, vendor_code, 32);
FIELD(lb_error, vendor_text, 40);
FIELD(lb_error, details, 48);

SIZE(lb_option_value, 32);
FIELD(lb_option_value, struct_size, 0);
FIELD(lb_option_value, is_set, 8);
FIELD(lb_option_value, text, 16);
FIELD(lb_option_value, origin, 24);

SIZE(lb_option_info, 64);
FIELD(lb_option_info, struct_size, 0);
FIELD(lb_option_info, key, 8);
FIELD(lb_option_info, value, 16);
FIELD(lb_option_info, default_text, 24);
FIELD(lb_option_info, help, 32);
FIELD(lb_option_info, environment, 40);
FIELD(lb_option_info, flag, 48);
FIELD(lb_option_info, of_model, 56);

SIZE(lb_call_options, 32);
FIELD(lb_call_options, struct_size, 0);
FIELD(lb_call_options, timeout_ms, 8);
FIELD(lb_call_options, cancellation, 16);
FIELD(lb_call_options, answered_by, 24);

SIZE(lb_device, 80);
FIELD(lb_device, struct_size, 0);
FIELD(lb_device, id, 8);
FIELD(lb_device, backend, 16);
FIELD(lb_device, name, 24);
FIELD(lb_device, kind, 32);
FIELD(lb_device, is_virtual, 36);
FIELD(lb_device, full_name, 40);
FIELD(lb_device, runtime_version, 48);
FIELD(lb_device, metadata_count, 56);
FIELD(lb_device, metadata_keys, 64);
FIELD(lb_device, metadata_values, 72);

SIZE(lb_backend, 56);
FIELD(lb_backend, struct_size, 0);
FIELD(lb_backend, name, 8);
FIELD(lb_backend, code, 16);
FIELD(lb_backend, reason, 24);
FIELD(lb_backend, runtime_version, 32);
FIELD(lb_backend, install_hint, 40);
FIELD(lb_backend, known_errors, 48);

SIZE(lb_tensor, 152);
FIELD(lb_tensor, data, 0);
FIELD(lb_tensor, type, 8);
FIELD(lb_tensor, rank, 12);
FIELD(lb_tensor, strided, 16);
FIELD(lb_tensor, reserved_, 20);
FIELD(lb_tensor, shape, 24);
FIELD(lb_tensor, strides, 88);

SIZE(lb_active, 144);
FIELD(lb_active, struct_size, 0);
FIELD(lb_active, backend, 8);
FIELD(lb_active, device, 16);
FIELD(lb_active, device_full_name, 24);
FIELD(lb_active, runtime_version, 32);
FIELD(lb_active, library_file, 40);
FIELD(lb_active, precision, 48);
FIELD(lb_active, threads, 56);
FIELD(lb_active, requests, 60);
FIELD(lb_active, fallback, 64);
FIELD(lb_active, reason, 72);
FIELD(lb_active, static_lengths, 80);
FIELD(lb_active, static_length_count, 88);
FIELD(lb_active, static_rows, 96);
FIELD(lb_active, hung_runs, 104);
FIELD(lb_active, emulated, 112);
FIELD(lb_active, nodes, 120);
FIELD(lb_active, host_nodes, 128);
FIELD(lb_active, verification, 136);

SIZE(lb_placement_step, 40);
FIELD(lb_placement_step, struct_size, 0);
FIELD(lb_placement_step, device, 8);
FIELD(lb_placement_step, taken, 16);
FIELD(lb_placement_step, reason, 24);
FIELD(lb_placement_step, details, 32);

SIZE(lb_external_data, 24);
FIELD(lb_external_data, location, 0);
FIELD(lb_external_data, data, 8);
FIELD(lb_external_data, size, 16);

SIZE(lb_model_memory, 96);
FIELD(lb_model_memory, struct_size, 0);
FIELD(lb_model_memory, format, 8);
FIELD(lb_model_memory, graph, 16);
FIELD(lb_model_memory, graph_size, 24);
FIELD(lb_model_memory, weights, 32);
FIELD(lb_model_memory, weights_size, 40);
FIELD(lb_model_memory, release, 48);
FIELD(lb_model_memory, context, 56);
FIELD(lb_model_memory, name, 64);
FIELD(lb_model_memory, external, 72);
FIELD(lb_model_memory, external_count, 80);
FIELD(lb_model_memory, external_files, 88);

SIZE(lb_tensor_info, 152);
FIELD(lb_tensor_info, struct_size, 0);
FIELD(lb_tensor_info, name, 8);
FIELD(lb_tensor_info, type, 16);
FIELD(lb_tensor_info, rank, 20);
FIELD(lb_tensor_info, shape, 24);
FIELD(lb_tensor_info, upper, 88);

SIZE(lb_text, 16);
FIELD(lb_text, data, 0);
FIELD(lb_text, size, 8);

SIZE(lb_token_ids, 16);
FIELD(lb_token_ids, ids, 0);
FIELD(lb_token_ids, count, 8);

SIZE(lb_token_offsets, 16);
FIELD(lb_token_offsets, begin, 0);
FIELD(lb_token_offsets, end, 8);

SIZE(lb_text_pair, 32);
FIELD(lb_text_pair, first, 0);
FIELD(lb_text_pair, second, 16);

SIZE(lb_dense_rows, 24);
FIELD(lb_dense_rows, count, 0);
FIELD(lb_dense_rows, dimension, 8);
FIELD(lb_dense_rows, values, 16);

SIZE(lb_sparse_rows, 32);
FIELD(lb_sparse_rows, count, 0);
FIELD(lb_sparse_rows, begins, 8);
FIELD(lb_sparse_rows, indices, 16);
FIELD(lb_sparse_rows, values, 24);

SIZE(lb_ragged_rows, 32);
FIELD(lb_ragged_rows, count, 0);
FIELD(lb_ragged_rows, dimension, 8);
FIELD(lb_ragged_rows, begins, 16);
FIELD(lb_ragged_rows, vectors, 24);

SIZE(lb_output_request, 24);
FIELD(lb_output_request, name, 0);
FIELD(lb_output_request, rows, 8);
FIELD(lb_output_request, capacity, 16);

SIZE(lb_encoder_options, 32);
FIELD(lb_encoder_options, struct_size, 0);
FIELD(lb_encoder_options, outputs, 8);
FIELD(lb_encoder_options, output_count, 16);
FIELD(lb_encoder_options, role, 24);
FIELD(lb_encoder_options, reserved_, 28);

SIZE(lb_encoder_info, 64);
FIELD(lb_encoder_info, struct_size, 0);
FIELD(lb_encoder_info, name, 8);
FIELD(lb_encoder_info, input, 16);
FIELD(lb_encoder_info, output_count, 24);
FIELD(lb_encoder_info, prompt_count, 32);
FIELD(lb_encoder_info, max_tokens, 40);
FIELD(lb_encoder_info, max_query_tokens, 48);
FIELD(lb_encoder_info, has_routes, 56);

SIZE(lb_output_info, 48);
FIELD(lb_output_info, struct_size, 0);
FIELD(lb_output_info, name, 8);
FIELD(lb_output_info, dimension, 16);
FIELD(lb_output_info, dimension_max, 24);
FIELD(lb_output_info, entries_max, 32);
FIELD(lb_output_info, form, 40);

SIZE(lb_encode_options, 88);
FIELD(lb_encode_options, struct_size, 0);
FIELD(lb_encode_options, outputs, 8);
FIELD(lb_encode_options, output_count, 16);
FIELD(lb_encode_options, dimensions, 24);
FIELD(lb_encode_options, max_tokens, 32);
FIELD(lb_encode_options, refuse_longer, 40);
FIELD(lb_encode_options, normalize, 44);
FIELD(lb_encode_options, alone, 48);
FIELD(lb_encode_options, role, 52);
FIELD(lb_encode_options, raw_scores, 56);
FIELD(lb_encode_options, reserved_, 60);
FIELD(lb_encode_options, prompt, 64);
FIELD(lb_encode_options, prompt_name, 72);
FIELD(lb_encode_options, task, 80);

SIZE(lb_encode_stats, 56);
FIELD(lb_encode_stats, struct_size, 0);
FIELD(lb_encode_stats, texts, 8);
FIELD(lb_encode_stats, tokens, 16);
FIELD(lb_encode_stats, padded_tokens, 24);
FIELD(lb_encode_stats, truncated_texts, 32);
FIELD(lb_encode_stats, seconds, 40);
FIELD(lb_encode_stats, fallback_texts, 48);

SIZE(lb_stream_options, 24);
FIELD(lb_stream_options, struct_size, 0);
FIELD(lb_stream_options, window_texts, 8);
FIELD(lb_stream_options, window_bytes, 16);

SIZE(lb_window, 32);
FIELD(lb_window, struct_size, 0);
FIELD(lb_window, first, 8);
FIELD(lb_window, count, 16);
FIELD(lb_window, results, 24);

SIZE(lb_job_progress, 160);
FIELD(lb_job_progress, struct_size, 0);
FIELD(lb_job_progress, is_over, 8);
FIELD(lb_job_progress, done, 16);
FIELD(lb_job_progress, total, 24);
FIELD(lb_job_progress, activity, 32);

SIZE(lb_job_kind, 32);
FIELD(lb_job_kind, struct_size, 0);
FIELD(lb_job_kind, name, 8);
FIELD(lb_job_kind, arguments, 16);
FIELD(lb_job_kind, report, 24);
