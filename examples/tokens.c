/* Prints the token ids of the lines of its input, or with --text the tokens, as `latebind tokens` does.
 *
 *   tokens MODEL_FOLDER [--text] < lines
 */
#include <stdio.h>
#include <string.h>

#include "latebind/latebind.h"

static int fail(const char* what) {
  lb_error error = LB_INIT(lb_error);
  lb_last_error(&error);
  fprintf(stderr, "%s: %s: %s\n", what, lb_code_name(error.code), error.message);
  return 1;
}

static int print_line(const lb_tokenizer* tokenizer, const char* line, int as_text) {
  const lb_text text = {line, strcspn(line, "\n")};
  lb_token_list* list = NULL;
  lb_token_ids found;
  if (lb_tokenizer_encode(tokenizer, &text, 1, 0, &list) != LB_OK ||
      lb_token_list_get(list, 0, &found, NULL) != LB_OK) {
    return fail("tokenizing");
  }
  for (size_t i = 0; i < found.count; ++i) {
    lb_text token = {"", 0};
    if (as_text && lb_tokenizer_token(tokenizer, found.ids[i], &token) != LB_OK) return fail("tokenizing");
    if (as_text) {
      printf("%s%.*s", i > 0 ? " " : "", (int)token.size, token.data);
    } else {
      printf("%s%d", i > 0 ? " " : "", (int)found.ids[i]);
    }
  }
  printf("\n");
  lb_token_list_destroy(list);
  return 0;
}

int main(int argc, char** argv) {
  static char line[1 << 20];
  if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "--text") != 0)) {
    fprintf(stderr, "usage: %s MODEL_FOLDER [--text] < lines\n", argv[0]);
    return 2;
  }
  lb_tokenizer* tokenizer = NULL;
  if (lb_tokenizer_open(argv[1], &tokenizer) != LB_OK) return fail(argv[1]);
  int result = 0;
  while (result == 0 && fgets(line, sizeof line, stdin) != NULL)
    result = print_line(tokenizer, line, argc == 3);
  if (ferror(stdin) || fflush(stdout) != 0 || ferror(stdout)) {
    perror("reading and writing");
    result = 1;
  }
  lb_tokenizer_destroy(tokenizer);
  return result;
}
