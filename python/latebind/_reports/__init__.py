"""The program's commands as functions: devices, backends, doctor, compile, inspect, pull, warm, verify, and the cache.

Each file has one job's function and its results, which are small frozen dataclasses. Their `raw` is the library's report,
which may contain more. All functions accept settings as keywords, as Embedder does. Ctrl-C cancels, and so does an
exception raised by `progress`. scripts/generate_python_reports lists the names of these files in latebind/__init__.py.
"""
