"""Opens a folder as a model package in stock ONNX Runtime, through its C interface, and makes a session of it.

usage: ort_package.py FOLDER [COMPONENT]

Prints {schema, components, variants, selected, folder, inputs} as JSON. Run in a process of its own: a wrong place in
the tables of functions would crash it.
"""

import ctypes
import glob
import json
import os
import sys

# Places in OrtApi and OrtModelPackageApi, which only grow at their ends.
GET_ERROR_MESSAGE, CREATE_ENV, CREATE_SESSION_OPTIONS, SESSION_GET_INPUT_COUNT = 2, 3, 10, 30
GET_MODEL_PACKAGE_API = 427
CREATE_OPTIONS, CREATE_CONTEXT, GET_SCHEMA_VERSION = 0, 2, 4
GET_COMPONENT_NAMES, GET_VARIANT_NAMES = 6, 8
SELECT_COMPONENT, GET_SELECTED_NAME, GET_SELECTED_FOLDER, CREATE_SESSION = 11, 13, 14, 15
API_VERSION = 31

P = ctypes.c_void_p


def library():
    import onnxruntime

    folder = os.path.join(os.path.dirname(onnxruntime.__file__), "capi")
    return ctypes.CDLL(glob.glob(os.path.join(folder, "libonnxruntime.so.*"))[0])


class Table:
    def __init__(self, address, message=None):
        self.places = ctypes.cast(address, ctypes.POINTER(P))
        self.message = message

    def call(self, place, *arguments):
        status = ctypes.CFUNCTYPE(P, *([P] * len(arguments)))(self.places[place])(*arguments)
        if status:
            raise RuntimeError(self.message(status))


def names_of(table, place, *arguments):
    names, count = ctypes.POINTER(ctypes.c_char_p)(), ctypes.c_size_t()
    table.call(place, *arguments, ctypes.addressof(names), ctypes.addressof(count))
    return [names[i].decode() for i in range(count.value)]


def out(table, place, *arguments):
    value = P()
    table.call(place, *arguments, ctypes.addressof(value))
    return value.value


def main(folder, component="model"):
    base = library().OrtGetApiBase
    base.restype = P
    get_api = ctypes.CFUNCTYPE(P, ctypes.c_uint32)(ctypes.cast(base(), ctypes.POINTER(P))[0])
    api = Table(get_api(API_VERSION))
    get_message = ctypes.CFUNCTYPE(ctypes.c_char_p, P)(api.places[GET_ERROR_MESSAGE])
    api.message = lambda status: get_message(status).decode()
    package = Table(ctypes.CFUNCTYPE(P)(api.places[GET_MODEL_PACKAGE_API])(), api.message)

    name = ctypes.create_string_buffer(b"test")
    env = P()
    create_env = ctypes.CFUNCTYPE(P, ctypes.c_int, P, P)(api.places[CREATE_ENV])
    assert not create_env(3, ctypes.addressof(name), ctypes.addressof(env))
    settings = out(api, CREATE_SESSION_OPTIONS)
    options = out(package, CREATE_OPTIONS, env.value, settings)

    place = ctypes.create_string_buffer(os.fsencode(folder))
    wanted = ctypes.create_string_buffer(component.encode())
    context = out(package, CREATE_CONTEXT, ctypes.addressof(place))
    schema = ctypes.c_int64()
    package.call(GET_SCHEMA_VERSION, context, ctypes.addressof(schema))
    answer = {
        "schema": schema.value,
        "components": names_of(package, GET_COMPONENT_NAMES, context),
        "variants": names_of(package, GET_VARIANT_NAMES, context, ctypes.addressof(wanted)),
    }
    selected = out(package, SELECT_COMPONENT, context, ctypes.addressof(wanted), options)
    answer["selected"] = ctypes.string_at(out(package, GET_SELECTED_NAME, selected)).decode()
    answer["folder"] = ctypes.string_at(out(package, GET_SELECTED_FOLDER, selected)).decode()
    session = out(package, CREATE_SESSION, env.value, selected, None)
    inputs = ctypes.c_size_t()
    api.call(SESSION_GET_INPUT_COUNT, session, ctypes.addressof(inputs))
    answer["inputs"] = inputs.value
    print(json.dumps(answer), flush=True)
    # Nothing is taken down: the process ends.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
