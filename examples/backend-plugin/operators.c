/* The operators of a BERT in f32, each in a plain loop, as docs/plugin-contract.md defines it. The table at the end
 * says which of an operator's arguments are computed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"

size_t count_of(const shape* s) {
  size_t count = 1;
  for (size_t i = 0; i < s->rank; ++i)
    count *= (size_t)s->dims[i];
  return count;
}

static size_t last(const value* x) {
  return (size_t)x->shape.dims[x->shape.rank - 1];
}

static const float* floats(const value* x) {
  return x->data;
}

static float at(const weight* w, size_t i) {
  float number;
  memcpy(&number, w->bytes + i * sizeof number, sizeof number);
  return number;
}

/* Makes the memory of a value; NULL when there is none. */
static float* make(value* y, shape s) {
  y->shape = s;
  y->count = count_of(&s);
  y->own = malloc(y->count * sizeof *y->own + 1);
  y->data = y->own;
  return y->own;
}

/* `rows` rows of a table. */
static float* make_rows(value* y, const weight* table, shape rows) {
  rows.dims[rows.rank++] = table->shape.dims[1];
  return make(y, rows);
}

static const char* lookup(const step* s, const value* all, value* y) {
  const value* ids = &all[s->values[0]];
  const weight* table = &s->weights[0];
  float* to = make_rows(y, table, ids->shape);
  if (to == NULL) return NO_MEMORY;
  const size_t width = (size_t)table->shape.dims[1];
  for (size_t i = 0; i < ids->count; ++i) {
    const int64_t id = ((const int64_t*)ids->data)[i];
    if (id < 0 || id >= table->shape.dims[0]) return "an id is outside of the table";
    memcpy(to + i * width, table->bytes + (size_t)id * width * sizeof *to, width * sizeof *to);
  }
  return NULL;
}

static const char* position_lookup(const step* s, const value* all, value* y) {
  const weight* table = &s->weights[0];
  const int64_t tokens = all[s->values[0]].shape.dims[1];
  if (tokens > table->shape.dims[0]) return "a text has more tokens than the model has positions";
  float* to = make_rows(y, table, (shape){.dims = {tokens}, .rank = 1});
  if (to == NULL) return NO_MEMORY;
  memcpy(to, table->bytes, y->count * sizeof *to);
  return NULL;
}

static const char* row_lookup(const step* s, const value* all, value* y) {
  (void)all;
  float* to = make_rows(y, &s->weights[0], (shape){.rank = 0});
  if (to == NULL) return NO_MEMORY;
  memcpy(to, s->weights[0].bytes + (size_t)s->integers[0] * y->count * sizeof *to, y->count * sizeof *to);
  return NULL;
}

static const char* add(const step* s, const value* all, value* y) {
  const value *a = &all[s->values[0]], *b = &all[s->values[1]];
  float* to = make(y, a->shape);
  if (to == NULL) return NO_MEMORY;
  for (size_t i = 0; i < a->count; ++i)
    to[i] = floats(a)[i] + floats(b)[i % b->count];
  return NULL;
}

static const char* linear(const step* s, const value* all, value* y) {
  const value* x = &all[s->values[0]];
  const weight *w = &s->weights[0], *bias = &s->weights[1];
  const size_t in = last(x), out = (size_t)w->shape.dims[0];
  shape made = x->shape;
  made.dims[made.rank - 1] = (int64_t)out;
  float* to = make(y, made);
  if (to == NULL) return NO_MEMORY;
  for (size_t row = 0; row < y->count / out; ++row) {
    for (size_t o = 0; o < out; ++o) {
      double sum = bias->bytes == NULL ? 0 : at(bias, o);
      for (size_t i = 0; i < in; ++i)
        sum += (double)floats(x)[row * in + i] * at(w, o * in + i);
      to[row * out + o] = (float)sum;
    }
  }
  return NULL;
}

static const char* layer_norm(const step* s, const value* all, value* y) {
  const value* x = &all[s->values[0]];
  const weight *w = &s->weights[0], *bias = &s->weights[1];
  const size_t width = last(x);
  float* to = make(y, x->shape);
  if (to == NULL) return NO_MEMORY;
  for (size_t from = 0; from < x->count; from += width) {
    const float* row = floats(x) + from;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; ++i)
      mean += row[i] / (double)width;
    for (size_t i = 0; i < width; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / (double)width;
    const double factor = 1 / sqrt(variance + s->number);
    for (size_t i = 0; i < width; ++i)
      to[from + i] = (float)((row[i] - mean) * factor * at(w, i) + (bias->bytes == NULL ? 0 : at(bias, i)));
  }
  return NULL;
}

static const char* gelu(const step* s, const value* all, value* y) {
  const value* x = &all[s->values[0]];
  float* to = make(y, x->shape);
  if (to == NULL) return NO_MEMORY;
  for (size_t i = 0; i < x->count; ++i)
    to[i] = (float)(floats(x)[i] / 2 * (1 + erf(floats(x)[i] / sqrt(2))));
  return NULL;
}

/* One token's part of one head: the weighted sum of the values, with the softmax over the unmasked tokens. */
static void attend(const float* query, const float* key, const float* val, const int64_t* mask, size_t tokens,
                   size_t step_of_key, size_t width, double scale, double* p, float* to) {
  double most = -INFINITY, sum = 0;
  for (size_t t = 0; t < tokens; ++t) {
    double product = 0;
    for (size_t i = 0; i < width; ++i)
      product += (double)query[i] * key[t * step_of_key + i];
    p[t] = mask[t] == 1 ? product * scale : -INFINITY;
    most = p[t] > most ? p[t] : most;
  }
  for (size_t t = 0; t < tokens; ++t)
    sum += p[t] = mask[t] == 1 ? exp(p[t] - most) : 0;
  for (size_t i = 0; i < width; ++i) {
    double total = 0;
    for (size_t t = 0; t < tokens; ++t)
      total += p[t] * val[t * step_of_key + i];
    to[i] = sum > 0 ? (float)(total / sum) : 0;
  }
}

static const char* attention(const step* s, const value* all, value* y) {
  const value *query = &all[s->values[0]], *key = &all[s->values[1]], *val = &all[s->values[2]];
  const int64_t* mask = all[s->values[3]].data;
  const size_t heads = (size_t)s->integers[0], key_heads = (size_t)s->integers[1];
  const size_t texts = (size_t)query->shape.dims[0], tokens = (size_t)query->shape.dims[1];
  const size_t columns = last(query), key_columns = last(key), width = columns / heads;
  float* to = make(y, query->shape);
  double* p = malloc(tokens * sizeof *p + 1);
  if (to == NULL || p == NULL) {
    free(p);
    return NO_MEMORY;
  }
  for (size_t row = 0; row < texts * tokens; ++row) {
    const size_t text = row / tokens;
    for (size_t h = 0; h < heads; ++h) {
      const size_t place = row * columns + h * width;
      const size_t key_place = text * tokens * key_columns + h * key_heads / heads * width;
      attend(floats(query) + place, floats(key) + key_place, floats(val) + key_place, mask + text * tokens, tokens,
             key_columns, width, s->number, p, to + place);
    }
  }
  free(p);
  return NULL;
}

static const char* mean(const step* s, const value* all, value* y) {
  const value* x = &all[s->values[0]];
  const int64_t* mask = all[s->values[1]].data;
  const size_t texts = (size_t)x->shape.dims[0], tokens = (size_t)x->shape.dims[1], width = last(x);
  float* to = make(y, (shape){.dims = {x->shape.dims[0], x->shape.dims[2]}, .rank = 2});
  if (to == NULL) return NO_MEMORY;
  for (size_t i = 0; i < texts * width; ++i) {
    const size_t text = i / width;
    double sum = 0, count = 0;
    for (size_t t = text * tokens; t < (text + 1) * tokens; ++t) {
      if (mask[t] != 1) continue;
      sum += floats(x)[t * width + i % width];
      count += 1;
    }
    to[i] = (float)(sum / (count > 0 ? count : 1e-9));
  }
  return NULL;
}

static const char* normalize(const step* s, const value* all, value* y) {
  const value* x = &all[s->values[0]];
  const size_t width = last(x);
  float* to = make(y, x->shape);
  if (to == NULL) return NO_MEMORY;
  for (size_t from = 0; from < x->count; from += width) {
    double sum = 0;
    for (size_t i = from; i < from + width; ++i)
      sum += (double)floats(x)[i] * floats(x)[i];
    const double length = sqrt(sum) > 1e-12 ? sqrt(sum) : 1e-12;
    for (size_t i = from; i < from + width; ++i)
      to[i] = (float)(floats(x)[i] / length);
  }
  return NULL;
}

static const operation kOperators[] = {
    {.name = "lookup", .compute = lookup, .values = {"ids"}, .weights = {"table"}},
    {.name = "position_lookup", .compute = position_lookup, .values = {"ids"}, .weights = {"table"}},
    {.name = "row_lookup", .compute = row_lookup, .weights = {"table"}, .integers = {"row"}},
    {.name = "add", .compute = add, .values = {"a", "b"}},
    {.name = "linear", .compute = linear, .values = {"x"}, .weights = {"weight", "bias"}},
    {.name = "layer_norm", .compute = layer_norm, .values = {"x"}, .weights = {"weight", "bias"}, .number = "epsilon"},
    {.name = "activation", .compute = gelu, .values = {"x"}, .text = "function", .word = "gelu_erf"},
    {.name = "attention",
     .compute = attention,
     .values = {"query", "key", "value", "mask"},
     .integers = {"heads", "key_heads"},
     .number = "scale"},
    {.name = "pool", .compute = mean, .values = {"x", "mask"}, .text = "mode", .word = "mean"},
    {.name = "normalize", .compute = normalize, .values = {"x"}}};

const operation* find_operation(const char* name) {
  for (size_t i = 0; i < sizeof kOperators / sizeof *kOperators; ++i) {
    if (strcmp(kOperators[i].name, name) == 0) return &kOperators[i];
  }
  return NULL;
}
