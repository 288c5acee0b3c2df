//! The plug-in of examples/backend-plugin/adder.c in Rust: it adds two tensors of type f32 and one shape, and refuses
//! everything else by name. It has no dependency but the standard library:
//!
//!     rustc --edition 2021 --crate-type cdylib -C opt-level=3 adder.rs -o libadder_rust.so
//!     latebind backends add ./libadder_rust.so
//!
//! The contract is C, include/latebind/latebind_backend.h, which has the rules. Its structs are declared below by hand,
//! each as far as it is used here: every struct says how large its maker's declaration is, and begins the same in all
//! versions. `bindgen` declares all of them.
use std::ffi::{c_void, CStr, CString};
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;

// -- The contract -----------------------------------------------------------------------------------------------------

const ABI: u32 = 1;
type Code = i32;
const OK: Code = 0;
const SHAPE_MISMATCH: Code = 103;
const UNSUPPORTED: Code = 106;
const BUFFER_TOO_SMALL: Code = 107;
const DEVICE_NOT_FOUND: Code = 202;
const INTERNAL: Code = 400;
const F32: i32 = 12;
const PRECISION_F32: i32 = 0;
const KIND_CPU: i32 = 0;
const READS_GRAPH: u32 = 1;

/// Objects of the host, and what is not used here.
type Opaque = c_void;

#[repr(C)]
pub struct Host {
    struct_size: usize,
    abi_least: u32,
    abi_most: u32,
    version: *const c_char,
    log: *const c_void,
    fail: unsafe extern "C" fn(*mut Opaque, Code, *const c_char) -> Code,
    fail_with_vendor: *const c_void,
    spoil: *const c_void,
    set_text: *const c_void,
    write: *const c_void,
    add_left_node: *const c_void,
    add_device: unsafe extern "C" fn(*mut Opaque, *const Device) -> Code,
    prepare_output: unsafe extern "C" fn(*mut Opaque, i32, *const i64, usize) -> *mut c_void,
}

#[repr(C)]
pub struct Pair {
    struct_size: usize,
    key: *const c_char,
    text: *const c_char,
}

#[repr(C)]
pub struct Device {
    struct_size: usize,
    name: *const c_char,
    kind: i32,
    full_name: *const c_char,
    runtime_version: *const c_char,
    reads: u32,
    precisions: *const i32,
    precision_count: usize,
}

#[repr(C)]
pub struct Argument {
    struct_size: usize,
    name: *const c_char,
    kind: i32,
    index: u32,
    integer: i64,
    number: f64,
    numbers: *const f32,
    number_count: usize,
    text: *const c_char,
}

#[repr(C)]
pub struct Node {
    struct_size: usize,
    op: *const c_char,
    element_type: i32,
    dims: *const i64,
    rank: usize,
    arguments: *const *const Argument,
    argument_count: usize,
}

#[repr(C)]
pub struct GraphOutput {
    struct_size: usize,
    name: *const c_char,
    node: usize,
}

#[repr(C)]
pub struct Graph {
    struct_size: usize,
    operators: u32,
    nodes: *const *const Node,
    node_count: usize,
    weights: *const c_void,
    weight_count: usize,
    parts: *const c_void,
    part_count: usize,
    outputs: *const *const GraphOutput,
    output_count: usize,
}

#[repr(C)]
pub struct Model {
    struct_size: usize,
    name: *const c_char,
    graph: *const Graph,
}

#[repr(C)]
pub struct Options {
    struct_size: usize,
    precision: i32,
    throughput: i32,
    threads: u32,
    requests: u32,
    host_nodes: i32,
    shapes_recur: i32,
    emulate: i32,
    input_shapes: *const c_void,
    input_shape_count: usize,
    properties: *const *const Pair,
    property_count: usize,
}

#[repr(C)]
pub struct TensorInfo {
    struct_size: usize,
    name: *const c_char,
    element_type: i32,
    dims: *const i64,
    rank: usize,
    upper: *const i64,
}

#[repr(C)]
pub struct Active {
    struct_size: usize,
    precision: i32,
    threads: u32,
    requests: u32,
    device: *const c_char,
    full_name: *const c_char,
    library_file: *const c_char,
    runtime_version: *const c_char,
    inputs: *const *const TensorInfo,
    input_count: usize,
    outputs: *const *const TensorInfo,
    output_count: usize,
    releases_weights: i32,
    leaves_padding_out: i32,
    packs_tokens: i32,
    compiles_nothing: i32,
}

#[repr(C)]
pub struct Tensor {
    struct_size: usize,
    element_type: i32,
    dims: *const i64,
    rank: usize,
    data: *const c_void,
}

#[repr(C)]
pub struct Table {
    struct_size: usize,
    abi: u32,
    name: *const c_char,
    version: *const c_char,
    maker: *const c_char,
    settings: *const c_void,
    setting_count: usize,
    create: unsafe extern "C" fn(*const Host, *const *const Pair, usize, *mut *mut Backend, *mut Opaque) -> Code,
    destroy: unsafe extern "C" fn(*mut Backend),
    available: unsafe extern "C" fn(*mut Backend, *mut Opaque) -> Code,
    devices: unsafe extern "C" fn(*mut Backend, *mut Opaque, *mut Opaque) -> Code,
    load: unsafe extern "C" fn(
        *mut Backend,
        *const Model,
        *const c_char,
        *const Options,
        *mut *mut Executable,
        *mut Opaque,
    ) -> Code,
    describe_executable: unsafe extern "C" fn(*mut Executable) -> *const Active,
    execute: unsafe extern "C" fn(
        *mut Executable,
        *const *const Tensor,
        usize,
        *const *mut Opaque,
        usize,
        *const c_void,
        *mut Opaque,
    ) -> Code,
    destroy_executable: unsafe extern "C" fn(*mut Executable),
    runtime_version: *const c_void,
    takes: unsafe extern "C" fn(*mut Backend, *const Graph, *const c_char, *const Options, *mut Opaque) -> Code,
}

// -- What the contract's types become in Rust -------------------------------------------------------------------------

/// An error: its code and its one line.
struct Refusal(Code, String);

fn refuse<T>(code: Code, text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(code, text.into()))
}

unsafe fn text<'a>(pointer: *const c_char) -> &'a str {
    if pointer.is_null() {
        return "";
    }
    CStr::from_ptr(pointer).to_str().unwrap_or("")
}

unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    std::slice::from_raw_parts(pointer, count)
}

/// The elements of the contract's lists, which are arrays of pointers.
unsafe fn list<'a, T>(pointers: *const *const T, count: usize) -> Vec<&'a T> {
    slice(pointers, count).iter().map(|each| &**each).collect()
}

impl Node {
    unsafe fn dims(&self) -> &[i64] {
        slice(self.dims, self.rank)
    }

    unsafe fn arguments(&self) -> Vec<&Argument> {
        list(self.arguments, self.argument_count)
    }

    /// The name of an input.
    unsafe fn name(&self) -> &str {
        self.arguments().iter().find(|each| text(each.name) == "name").map_or("", |name| text(name.text))
    }
}

/// Runs a slot. A panic must not unwind into the host, so it becomes an error.
unsafe fn slot(host: &Host, error: *mut Opaque, body: impl FnOnce() -> Result<(), Refusal>) -> Code {
    let Refusal(code, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return OK,
        Ok(Err(refusal)) => refusal,
        Err(_) => Refusal(INTERNAL, "the plug-in panicked, which is a defect of it".into()),
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    (host.fail)(error, code, message.as_ptr())
}

// -- The plug-in ------------------------------------------------------------------------------------------------------

const NAME: &[u8] = b"adder_rust\0";
const VERSION: &[u8] = b"1.0.0\0";
const MAKER: &[u8] = b"Latebind's examples\0";
const DEVICE: &[u8] = b"CPU\0";
const FULL_NAME: &[u8] = b"additions in a loop, in Rust\0";

const fn c_text(text: &'static [u8]) -> *const c_char {
    text.as_ptr() as *const c_char
}

pub struct Backend {
    host: &'static Host,
}

/// A loaded model. `active` points to what is behind the other members, which therefore never grows.
pub struct Executable {
    host: &'static Host,
    _dims: Vec<i64>,
    _names: Vec<CString>,
    _tensors: Vec<TensorInfo>,
    _pointers: Vec<*const TensorInfo>,
    active: Active,
}

unsafe extern "C" fn create(
    host: *const Host,
    _settings: *const *const Pair,
    _count: usize,
    backend: *mut *mut Backend,
    _error: *mut Opaque,
) -> Code {
    *backend = Box::into_raw(Box::new(Backend { host: &*host }));
    OK
}

unsafe extern "C" fn destroy(backend: *mut Backend) {
    drop(Box::from_raw(backend));
}

unsafe extern "C" fn available(_backend: *mut Backend, _error: *mut Opaque) -> Code {
    OK
}

unsafe extern "C" fn devices(backend: *mut Backend, devices: *mut Opaque, error: *mut Opaque) -> Code {
    let host = (*backend).host;
    slot(host, error, || {
        let precisions = [PRECISION_F32];
        let device = Device {
            struct_size: std::mem::size_of::<Device>(),
            name: c_text(DEVICE),
            kind: KIND_CPU,
            full_name: c_text(FULL_NAME),
            runtime_version: null(),
            reads: READS_GRAPH,
            precisions: precisions.as_ptr(),
            precision_count: precisions.len(),
        };
        match (host.add_device)(devices, &device) {
            OK => Ok(()),
            code => refuse(code, "the host does not take the device"),
        }
    })
}

/// Says whether the graph is one sum of two inputs, and otherwise what it is that cannot be computed.
unsafe fn check(graph: &Graph, device: &str, options: &Options) -> Result<(), Refusal> {
    if device != "CPU" {
        return refuse(DEVICE_NOT_FOUND, format!("the only device is CPU: '{device}'"));
    }
    if options.precision != PRECISION_F32 {
        return refuse(UNSUPPORTED, "the only precision is f32");
    }
    if options.input_shape_count != 0 {
        return refuse(UNSUPPORTED, "static shapes are not supported");
    }
    if let Some(property) = list(options.properties, options.property_count).first() {
        return refuse(UNSUPPORTED, format!("there is no such property: '{}'", text(property.key)));
    }
    let nodes = list(graph.nodes, graph.node_count);
    let mut inputs: Vec<&Node> = Vec::new();
    for node in &nodes {
        match text(node.op) {
            "input" if node.element_type != F32 => {
                return refuse(UNSUPPORTED, format!("an input is not f32: '{}'", node.name()));
            }
            "input" if !inputs.is_empty() && node.dims() != inputs[0].dims() => {
                return refuse(
                    UNSUPPORTED,
                    format!("an input has another shape than the first one: '{}'", node.name()),
                );
            }
            "input" => inputs.push(node),
            "add" => {
                for argument in node.arguments() {
                    let name = text(argument.name);
                    if name != "a" && name != "b" {
                        return refuse(UNSUPPORTED, format!("argument of the operator add not supported: '{name}'"));
                    }
                }
                let operands: Vec<u32> = node.arguments().iter().map(|each| each.index).collect();
                if operands.len() != 2 || operands[0] == operands[1] {
                    return refuse(UNSUPPORTED, "the operator add of one value to itself is not supported");
                }
            }
            other => return refuse(UNSUPPORTED, format!("operator not supported: '{other}'")),
        }
    }
    let outputs = list(graph.outputs, graph.output_count);
    if inputs.len() != 2 || nodes.len() != 3 || outputs.len() != 1 || outputs[0].node != 2 {
        return refuse(UNSUPPORTED, "only one operator add of two inputs is supported");
    }
    Ok(())
}

unsafe extern "C" fn takes(
    backend: *mut Backend,
    graph: *const Graph,
    device: *const c_char,
    options: *const Options,
    error: *mut Opaque,
) -> Code {
    slot((*backend).host, error, || check(&*graph, text(device), &*options))
}

unsafe extern "C" fn load(
    backend: *mut Backend,
    model: *const Model,
    device: *const c_char,
    options: *const Options,
    executable: *mut *mut Executable,
    error: *mut Opaque,
) -> Code {
    let host = (*backend).host;
    slot(host, error, || {
        let (model, options) = (&*model, &*options);
        if model.graph.is_null() {
            return refuse(UNSUPPORTED, format!("the model has no graph: '{}'", text(model.name)));
        }
        let graph = &*model.graph;
        check(graph, text(device), options)?;
        // The graph is valid only until load() returns, so all of this is copied.
        let nodes = list(graph.nodes, graph.node_count);
        let dims = nodes[2].dims().to_vec();
        let output = list(graph.outputs, graph.output_count)[0];
        let names = [nodes[0].name(), nodes[1].name(), text(output.name)].map(|name| CString::new(name).unwrap()).to_vec();
        let tensors: Vec<TensorInfo> = names
            .iter()
            .map(|name| TensorInfo {
                struct_size: std::mem::size_of::<TensorInfo>(),
                name: name.as_ptr(),
                element_type: F32,
                dims: dims.as_ptr(),
                rank: dims.len(),
                upper: null(),
            })
            .collect();
        let pointers: Vec<*const TensorInfo> = tensors.iter().map(|each| each as *const TensorInfo).collect();
        let active = Active {
            struct_size: std::mem::size_of::<Active>(),
            precision: PRECISION_F32,
            threads: 1,
            requests: if options.requests == 0 { 64 } else { options.requests },
            device: c_text(DEVICE),
            full_name: c_text(FULL_NAME),
            library_file: null(),
            runtime_version: null(),
            inputs: pointers.as_ptr(),
            input_count: 2,
            outputs: pointers[2..].as_ptr(),
            output_count: 1,
            releases_weights: 0,
            leaves_padding_out: 0,
            packs_tokens: 0,
            compiles_nothing: 1,
        };
        let made = Executable { host, _dims: dims, _names: names, _tensors: tensors, _pointers: pointers, active };
        *executable = Box::into_raw(Box::new(made));
        Ok(())
    })
}

unsafe extern "C" fn describe_executable(executable: *mut Executable) -> *const Active {
    &(*executable).active
}

unsafe extern "C" fn execute(
    executable: *mut Executable,
    inputs: *const *const Tensor,
    input_count: usize,
    outputs: *const *mut Opaque,
    _output_count: usize,
    _run: *const c_void,
    error: *mut Opaque,
) -> Code {
    let host = (*executable).host;
    slot(host, error, || {
        // The host has checked counts, types and shapes, but not that the open dimensions are equal.
        let inputs = list(inputs, input_count);
        let dims = slice(inputs[0].dims, inputs[0].rank);
        if dims != slice(inputs[1].dims, inputs[1].rank) {
            return refuse(SHAPE_MISMATCH, "the inputs must have the same shape");
        }
        let count = dims.iter().product::<i64>() as usize;
        let sum = (host.prepare_output)(*outputs, F32, dims.as_ptr(), dims.len()) as *mut f32;
        if sum.is_null() {
            return refuse(BUFFER_TOO_SMALL, "the output is larger than its memory");
        }
        let [a, b] = [inputs[0], inputs[1]].map(|tensor| slice(tensor.data as *const f32, count));
        for i in 0..count {
            *sum.add(i) = a[i] + b[i];
        }
        Ok(())
    })
}

unsafe extern "C" fn destroy_executable(executable: *mut Executable) {
    drop(Box::from_raw(executable));
}

/// A table never changes, so threads may share its pointers.
struct Shared(Table);
unsafe impl Sync for Shared {}

static TABLE: Shared = Shared(Table {
    struct_size: std::mem::size_of::<Table>(),
    abi: ABI,
    name: c_text(NAME),
    version: c_text(VERSION),
    maker: c_text(MAKER),
    settings: null(),
    setting_count: 0,
    create,
    destroy,
    available,
    devices,
    load,
    describe_executable,
    execute,
    destroy_executable,
    runtime_version: null(),
    takes,
});

/// # Safety
/// Latebind calls it with the pointers of its contract.
#[no_mangle]
pub unsafe extern "C" fn lb_backend_entry(host: *const Host, table: *mut *const Table, error: *mut Opaque) -> Code {
    let host = &*host;
    slot(host, error, || {
        if host.abi_least > ABI || host.abi_most < ABI {
            return refuse(UNSUPPORTED, "this plug-in needs version 1 of Latebind's contract for plug-ins");
        }
        // A plug-in does not print; the message of a panic would go to standard error.
        std::panic::set_hook(Box::new(|_| {}));
        *table = &TABLE.0;
        Ok(())
    })
}
