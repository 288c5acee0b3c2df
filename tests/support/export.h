// What a library made for the tests offers, and nothing else of it.
#pragma once

#ifdef _WIN32
#define LB_TEST_EXPORT extern "C" __declspec(dllexport)
#else
#define LB_TEST_EXPORT extern "C" __attribute__((visibility("default")))
#endif
