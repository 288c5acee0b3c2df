/* Embeds the lines of its input, however many, as `latebind embed --output-format f32 -o OUTPUT` does.
 *
 *   stream MODEL_FOLDER OUTPUT [KEY=TEXT]... < lines
 *
 * The vectors are in the order of the lines, as little-endian floats. Memory grows with the longest line, not with the
 * input. OUTPUT must not exist yet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/latebind.h"

static int fail(const char* what) {
  lb_error error = LB_INIT(lb_error);
  lb_last_error(&error);
  fprintf(stderr, "%s: %s: %s\n", what, lb_code_name(error.code), error.message);
  return 1;
}

/* Writes the next window; `more` receives whether there was one. */
static int write_window(lb_stream* stream, FILE* output, int* more) {
  lb_window window = LB_INIT(lb_window);
  if (lb_stream_pull(stream, NULL, &window) != LB_OK) return fail("embedding");
  *more = window.count > 0;
  lb_dense_rows rows = {0};
  if (lb_results_dense(window.results, "dense", &rows) != LB_OK) return fail("embedding");
  if (*more && fwrite(rows.values, rows.dimension * sizeof(float), rows.count, output) != rows.count) {
    perror("writing");
    return 1;
  }
  return 0;
}

typedef struct {
  char* data;
  size_t size, capacity;
} text_line;

/* Reads the next line without its end, which may contain any bytes. Returns 1 for a line, 0 at the end, -1 on error. */
static int read_line(FILE* input, text_line* line) {
  int c = 0;
  line->size = 0;
  while ((c = getc(input)) != EOF && c != '\n') {
    if (line->size == line->capacity) {
      const size_t capacity = line->capacity == 0 ? 4096 : 2 * line->capacity;
      char* data = realloc(line->data, capacity);
      if (data == NULL) return -1;
      line->data = data;
      line->capacity = capacity;
    }
    line->data[line->size++] = (char)c;
  }
  if (ferror(input)) return -1;
  return c == '\n' || line->size > 0;
}

static int embed_lines(lb_stream* stream, FILE* output) {
  text_line line = {NULL, 0, 0};
  int result = 0;
  int more = 1;
  int found = 0;
  while (result == 0 && (found = read_line(stdin, &line)) > 0) {
    const lb_text text = {line.data, line.size};
    size_t taken = 0;
    while (result == 0 && taken == 0) {
      if (lb_stream_push(stream, &text, 1, &taken) != LB_OK) {
        result = fail("reading");
      } else if (taken == 0) {
        result = write_window(stream, output, &more);
      }
    }
  }
  if (found < 0) {
    perror("reading");
    result = 1;
  }
  free(line.data);
  if (result == 0 && lb_stream_finish(stream) != LB_OK) result = fail("embedding");
  while (result == 0 && more)
    result = write_window(stream, output, &more);
  return result;
}

static int set(lb_options* options, const char* text) {
  char key[128];
  const char* equals = strchr(text, '=');
  const size_t size = equals != NULL ? (size_t)(equals - text) : sizeof key;
  if (size >= sizeof key) {
    fprintf(stderr, "%s: not KEY=TEXT\n", text);
    return 2;
  }
  memcpy(key, text, size);
  key[size] = '\0';
  return lb_options_set(options, key, equals + 1) == LB_OK ? 0 : fail(text);
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s MODEL_FOLDER OUTPUT [KEY=TEXT]... < lines\n", argv[0]);
    return 2;
  }
  lb_options* options = NULL;
  lb_runtime* runtime = NULL;
  lb_encoder* encoder = NULL;
  lb_stream* stream = NULL;
  int result = lb_options_create(&options) == LB_OK ? 0 : fail("starting");
  for (int i = 3; i < argc && result == 0; ++i)
    result = set(options, argv[i]);
  if (result == 0 && lb_runtime_create(options, &runtime) != LB_OK) result = fail("starting");
  if (result == 0 && lb_encoder_open(runtime, argv[1], NULL, NULL, NULL, &encoder) != LB_OK) result = fail(argv[1]);
  if (result == 0 && lb_stream_open(encoder, NULL, NULL, &stream) != LB_OK) result = fail("starting");
  FILE* output = result == 0 ? fopen(argv[2], "wbx") : NULL;
  if (result == 0 && output == NULL) {
    perror(argv[2]);
    result = 1;
  }
  if (result == 0) result = embed_lines(stream, output);
  if (output != NULL && fclose(output) != 0 && result == 0) {
    perror(argv[2]);
    result = 1;
  }
  lb_stream_destroy(stream);
  lb_encoder_destroy(encoder);
  lb_runtime_destroy(runtime);
  lb_options_destroy(options);
  return result;
}
