/* What layers.c and operators.c share: values, weights and the operators that are computed. */
#ifndef LAYERS_H
#define LAYERS_H

#include <latebind/latebind_backend.h>
#include <stddef.h>
#include <stdint.h>

#define NO_MEMORY "no memory"

enum { VALUES_MAX = 4, WEIGHTS_MAX = 2, INTEGERS_MAX = 2 };

typedef struct shape {
  int64_t dims[LBB_RANK_MAX];
  size_t rank;
} shape;

/* The value of a node in one run. */
typedef struct value {
  shape shape;
  size_t count;
  const void* data; /* numbers of f32, or of i64 in inputs */
  float* own;       /* the memory, unless it is the caller's */
} value;

/* The bytes of a weight, at any address; NULL for an argument that is not there. */
typedef struct weight {
  shape shape;
  const char* bytes;
} weight;

/* A node, as it is kept for the runs. The arguments are in the order of its operator's lists. */
typedef struct step {
  const struct operation* op; /* NULL for an input */
  size_t values[VALUES_MAX];
  weight weights[WEIGHTS_MAX];
  int64_t integers[INTEGERS_MAX];
  double number;
} step;

/* What is computed of one operator: its arguments by kind, and for a text the only word that is computed. */
typedef struct operation {
  const char* name;
  /* Computes y from the values of all nodes before it. Returns NULL, or what is wrong. */
  const char* (*compute)(const step* s, const value* all, value* y);
  const char* values[VALUES_MAX];
  const char* weights[WEIGHTS_MAX];
  const char* integers[INTEGERS_MAX];
  const char* number;
  const char* text;
  const char* word;
} operation;

/* The number of elements. */
size_t count_of(const shape* s);

/* The operator of this name; NULL when it is not computed here. */
const operation* find_operation(const char* name);

#endif
