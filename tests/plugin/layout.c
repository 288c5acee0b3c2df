/* The layout of the contract for plug-ins, frozen by compiling this: what changes here breaks plug-ins that were
 * compiled before. A struct grows at its end: its SIZE and its LAST change then, and nothing else. Nothing lies behind
 * the last field, so that no new field can lie where an older struct has padding. */
#include <stddef.h>

#include "latebind/latebind_backend.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "the size of " #type)
#define FIELD(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define LAST(type, field) \
  _Static_assert(offsetof(type, field) + sizeof(((type*)0)->field) == sizeof(type), "the end of " #type)
#define VALUE(name, value) _Static_assert((name) == (value), #name)

_Static_assert(sizeof(void*) == 8 && sizeof(size_t) == 8, "these are the layouts of 64-bit systems");
VALUE(LBB_ABI, 1);
VALUE(LBB_OPERATORS, 1);
VALUE(LBB_DYNAMIC, -1);
SIZE(lbb_code, 4);
VALUE(LBB_OK, 0);
VALUE(LBB_INVALID_ARGUMENT, 100);
VALUE(LBB_NOT_FOUND, 101);
VALUE(LBB_INVALID_MODEL, 102);
VALUE(LBB_SHAPE_MISMATCH, 103);
VALUE(LBB_TYPE_MISMATCH, 104);
VALUE(LBB_COUNT_MISMATCH, 105);
VALUE(LBB_UNSUPPORTED, 106);
VALUE(LBB_BUFFER_TOO_SMALL, 107);
VALUE(LBB_LIBRARY_NOT_FOUND, 200);
VALUE(LBB_LIBRARY_UNUSABLE, 201);
VALUE(LBB_DEVICE_NOT_FOUND, 202);
VALUE(LBB_INCOMPATIBLE_BLOB, 203);
VALUE(LBB_PERMISSION_DENIED, 206);
VALUE(LBB_IO, 207);
VALUE(LBB_BUSY, 300);
VALUE(LBB_DEADLINE_EXCEEDED, 301);
VALUE(LBB_OUT_OF_MEMORY, 302);
VALUE(LBB_DISK_FULL, 303);
VALUE(LBB_DEVICE_FAILED, 304);
VALUE(LBB_CANCELLED, 305);
VALUE(LBB_INTERNAL, 400);
VALUE(LBB_LOG_DEBUG, 0);
VALUE(LBB_LOG_INFO, 1);
VALUE(LBB_LOG_WARNING, 2);
VALUE(LBB_LOG_ERROR, 3);
VALUE(LBB_BOOL, 1);
VALUE(LBB_I8, 2);
VALUE(LBB_U8, 3);
VALUE(LBB_I16, 4);
VALUE(LBB_U16, 5);
VALUE(LBB_I32, 6);
VALUE(LBB_U32, 7);
VALUE(LBB_I64, 8);
VALUE(LBB_U64, 9);
VALUE(LBB_F16, 10);
VALUE(LBB_BF16, 11);
VALUE(LBB_F32, 12);
VALUE(LBB_F64, 13);
VALUE(LBB_PRECISION_F32, 0);
VALUE(LBB_PRECISION_BF16, 1);
VALUE(LBB_PRECISION_F16, 2);
VALUE(LBB_PRECISION_INT8, 3);
VALUE(LBB_PRECISION_FAST, 4);
VALUE(LBB_KIND_CPU, 0);
VALUE(LBB_KIND_GPU, 1);
VALUE(LBB_KIND_NPU, 2);
VALUE(LBB_KIND_OTHER, 3);
VALUE(LBB_READS_GRAPH, 1);
VALUE(LBB_READS_ONNX, 2);
VALUE(LBB_READS_IR, 4);
VALUE(LBB_RANK_MAX, 8);
VALUE(LBB_VALUE, 0);
VALUE(LBB_WEIGHT, 1);
VALUE(LBB_INTEGER, 2);
VALUE(LBB_NUMBER, 3);
VALUE(LBB_NUMBERS, 4);
VALUE(LBB_TEXT, 5);

SIZE(lbb_pair, 24);
FIELD(lbb_pair, struct_size, 0);
FIELD(lbb_pair, key, 8);
FIELD(lbb_pair, text, 16);
LAST(lbb_pair, text);

SIZE(lbb_shape, 24);
FIELD(lbb_shape, struct_size, 0);
FIELD(lbb_shape, dims, 8);
FIELD(lbb_shape, rank, 16);
LAST(lbb_shape, rank);

SIZE(lbb_host, 136);
FIELD(lbb_host, struct_size, 0);
FIELD(lbb_host, abi_least, 8);
FIELD(lbb_host, abi_most, 12);
FIELD(lbb_host, version, 16);
FIELD(lbb_host, log, 24);
FIELD(lbb_host, fail, 32);
FIELD(lbb_host, fail_with_vendor, 40);
FIELD(lbb_host, spoil, 48);
FIELD(lbb_host, set_text, 56);
FIELD(lbb_host, write, 64);
FIELD(lbb_host, add_left_node, 72);
FIELD(lbb_host, add_device, 80);
FIELD(lbb_host, prepare_output, 88);
FIELD(lbb_host, weight, 96);
FIELD(lbb_host, read_weight, 104);
FIELD(lbb_host, add_search_step, 112);
FIELD(lbb_host, add_unavailable, 120);
FIELD(lbb_host, set_install_hint, 128);
LAST(lbb_host, set_install_hint);

SIZE(lbb_setting, 72);
FIELD(lbb_setting, struct_size, 0);
FIELD(lbb_setting, key, 8);
FIELD(lbb_setting, value, 16);
FIELD(lbb_setting, help, 24);
FIELD(lbb_setting, words, 32);
FIELD(lbb_setting, word_count, 40);
FIELD(lbb_setting, is_number, 48);
FIELD(lbb_setting, least, 56);
FIELD(lbb_setting, most, 64);
LAST(lbb_setting, most);

SIZE(lbb_device, 152);
FIELD(lbb_device, struct_size, 0);
FIELD(lbb_device, name, 8);
FIELD(lbb_device, kind, 16);
FIELD(lbb_device, full_name, 24);
FIELD(lbb_device, runtime_version, 32);
FIELD(lbb_device, reads, 40);
FIELD(lbb_device, precisions, 48);
FIELD(lbb_device, precision_count, 56);
FIELD(lbb_device, preferred_in, 64);
FIELD(lbb_device, preferred_count, 72);
FIELD(lbb_device, preferred_because, 80);
FIELD(lbb_device, architecture, 88);
FIELD(lbb_device, pci_id, 96);
FIELD(lbb_device, memory, 104);
FIELD(lbb_device, static_shapes, 112);
FIELD(lbb_device, is_virtual, 116);
FIELD(lbb_device, missing, 120);
FIELD(lbb_device, is_emulated, 128);
FIELD(lbb_device, facts, 136);
FIELD(lbb_device, fact_count, 144);
LAST(lbb_device, fact_count);

SIZE(lbb_part, 40);
FIELD(lbb_part, struct_size, 0);
FIELD(lbb_part, name, 8);
FIELD(lbb_part, file, 16);
FIELD(lbb_part, file_offset, 24);
FIELD(lbb_part, size, 32);
LAST(lbb_part, size);

SIZE(lbb_weight, 56);
FIELD(lbb_weight, struct_size, 0);
FIELD(lbb_weight, name, 8);
FIELD(lbb_weight, type, 16);
FIELD(lbb_weight, part, 20);
FIELD(lbb_weight, dims, 24);
FIELD(lbb_weight, rank, 32);
FIELD(lbb_weight, offset, 40);
FIELD(lbb_weight, bytes, 48);
LAST(lbb_weight, bytes);

SIZE(lbb_argument, 64);
FIELD(lbb_argument, struct_size, 0);
FIELD(lbb_argument, name, 8);
FIELD(lbb_argument, kind, 16);
FIELD(lbb_argument, index, 20);
FIELD(lbb_argument, integer, 24);
FIELD(lbb_argument, number, 32);
FIELD(lbb_argument, numbers, 40);
FIELD(lbb_argument, number_count, 48);
FIELD(lbb_argument, text, 56);
LAST(lbb_argument, text);

SIZE(lbb_node, 56);
FIELD(lbb_node, struct_size, 0);
FIELD(lbb_node, op, 8);
FIELD(lbb_node, type, 16);
FIELD(lbb_node, dims, 24);
FIELD(lbb_node, rank, 32);
FIELD(lbb_node, arguments, 40);
FIELD(lbb_node, argument_count, 48);
LAST(lbb_node, argument_count);

SIZE(lbb_graph_output, 24);
FIELD(lbb_graph_output, struct_size, 0);
FIELD(lbb_graph_output, name, 8);
FIELD(lbb_graph_output, node, 16);
LAST(lbb_graph_output, node);

SIZE(lbb_graph, 80);
FIELD(lbb_graph, struct_size, 0);
FIELD(lbb_graph, operators, 8);
FIELD(lbb_graph, nodes, 16);
FIELD(lbb_graph, node_count, 24);
FIELD(lbb_graph, weights, 32);
FIELD(lbb_graph, weight_count, 40);
FIELD(lbb_graph, parts, 48);
FIELD(lbb_graph, part_count, 56);
FIELD(lbb_graph, outputs, 64);
FIELD(lbb_graph, output_count, 72);
LAST(lbb_graph, output_count);

SIZE(lbb_piece, 48);
FIELD(lbb_piece, struct_size, 0);
FIELD(lbb_piece, location, 8);
FIELD(lbb_piece, data, 16);
FIELD(lbb_piece, size, 24);
FIELD(lbb_piece, file, 32);
FIELD(lbb_piece, file_offset, 40);
LAST(lbb_piece, file_offset);

SIZE(lbb_model, 104);
FIELD(lbb_model, struct_size, 0);
FIELD(lbb_model, name, 8);
FIELD(lbb_model, graph, 16);
FIELD(lbb_model, onnx_file, 24);
FIELD(lbb_model, onnx, 32);
FIELD(lbb_model, onnx_size, 40);
FIELD(lbb_model, pieces, 48);
FIELD(lbb_model, piece_count, 56);
FIELD(lbb_model, ir_file, 64);
FIELD(lbb_model, ir, 72);
FIELD(lbb_model, ir_size, 80);
FIELD(lbb_model, ir_weights, 88);
FIELD(lbb_model, ir_weights_size, 96);
LAST(lbb_model, ir_weights_size);

SIZE(lbb_options, 72);
FIELD(lbb_options, struct_size, 0);
FIELD(lbb_options, precision, 8);
FIELD(lbb_options, throughput, 12);
FIELD(lbb_options, threads, 16);
FIELD(lbb_options, requests, 20);
FIELD(lbb_options, host_nodes, 24);
FIELD(lbb_options, shapes_recur, 28);
FIELD(lbb_options, emulate, 32);
FIELD(lbb_options, input_shapes, 40);
FIELD(lbb_options, input_shape_count, 48);
FIELD(lbb_options, properties, 56);
FIELD(lbb_options, property_count, 64);
LAST(lbb_options, property_count);

SIZE(lbb_tensor_info, 48);
FIELD(lbb_tensor_info, struct_size, 0);
FIELD(lbb_tensor_info, name, 8);
FIELD(lbb_tensor_info, type, 16);
FIELD(lbb_tensor_info, dims, 24);
FIELD(lbb_tensor_info, rank, 32);
FIELD(lbb_tensor_info, upper, 40);
LAST(lbb_tensor_info, upper);

SIZE(lbb_active, 136);
FIELD(lbb_active, struct_size, 0);
FIELD(lbb_active, precision, 8);
FIELD(lbb_active, threads, 12);
FIELD(lbb_active, requests, 16);
FIELD(lbb_active, device, 24);
FIELD(lbb_active, full_name, 32);
FIELD(lbb_active, library_file, 40);
FIELD(lbb_active, runtime_version, 48);
FIELD(lbb_active, inputs, 56);
FIELD(lbb_active, input_count, 64);
FIELD(lbb_active, outputs, 72);
FIELD(lbb_active, output_count, 80);
FIELD(lbb_active, releases_weights, 88);
FIELD(lbb_active, leaves_padding_out, 92);
FIELD(lbb_active, packs_tokens, 96);
FIELD(lbb_active, compiles_nothing, 100);
FIELD(lbb_active, emulated, 104);
FIELD(lbb_active, kept_shapes, 112);
FIELD(lbb_active, nodes, 120);
FIELD(lbb_active, host_nodes, 128);
LAST(lbb_active, host_nodes);

SIZE(lbb_tensor, 56);
FIELD(lbb_tensor, struct_size, 0);
FIELD(lbb_tensor, type, 8);
FIELD(lbb_tensor, dims, 16);
FIELD(lbb_tensor, rank, 24);
FIELD(lbb_tensor, data, 32);
FIELD(lbb_tensor, buffer, 40);
FIELD(lbb_tensor, offset, 48);
LAST(lbb_tensor, offset);

SIZE(lbb_run, 32);
FIELD(lbb_run, struct_size, 0);
FIELD(lbb_run, deadline_ns, 8);
FIELD(lbb_run, is_cancelled, 16);
FIELD(lbb_run, side_by_side, 24);
LAST(lbb_run, side_by_side);

SIZE(lbb_blob_label, 40);
FIELD(lbb_blob_label, struct_size, 0);
FIELD(lbb_blob_label, device, 8);
FIELD(lbb_blob_label, runtime_version, 16);
FIELD(lbb_blob_label, precision, 24);
FIELD(lbb_blob_label, compatibility, 32);
LAST(lbb_blob_label, compatibility);

SIZE(lbb_table, 256);
FIELD(lbb_table, struct_size, 0);
FIELD(lbb_table, abi, 8);
FIELD(lbb_table, name, 16);
FIELD(lbb_table, version, 24);
FIELD(lbb_table, maker, 32);
FIELD(lbb_table, settings, 40);
FIELD(lbb_table, setting_count, 48);
FIELD(lbb_table, create, 56);
FIELD(lbb_table, destroy, 64);
FIELD(lbb_table, available, 72);
FIELD(lbb_table, devices, 80);
FIELD(lbb_table, load, 88);
FIELD(lbb_table, describe_executable, 96);
FIELD(lbb_table, execute, 104);
FIELD(lbb_table, destroy_executable, 112);
FIELD(lbb_table, runtime_version, 120);
FIELD(lbb_table, takes, 128);
FIELD(lbb_table, prepare, 136);
FIELD(lbb_table, stop_run, 144);
FIELD(lbb_table, compile, 152);
FIELD(lbb_table, check_blob, 160);
FIELD(lbb_table, load_blob, 168);
FIELD(lbb_table, export_blob, 176);
FIELD(lbb_table, virtual_devices, 184);
FIELD(lbb_table, why_not, 192);
FIELD(lbb_table, diagnose, 200);
FIELD(lbb_table, known_errors, 208);
FIELD(lbb_table, create_buffer, 216);
FIELD(lbb_table, destroy_buffer, 224);
FIELD(lbb_table, write_buffer, 232);
FIELD(lbb_table, read_buffer, 240);
FIELD(lbb_table, execute_to_buffers, 248);
LAST(lbb_table, execute_to_buffers);
