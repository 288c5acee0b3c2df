// Nothing: what its target compiles is precompiled.h.
