/* Embeds two sentences and prints their similarity: the C interface in one page.
 *
 *   embed_c MODEL_FOLDER TEXT TEXT [DEVICE]
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

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    fprintf(stderr, "usage: %s MODEL_FOLDER TEXT TEXT [DEVICE]\n", argv[0]);
    return 2;
  }

  lb_options* options = NULL;
  lb_runtime* runtime = NULL;
  lb_encoder* encoder = NULL;
  lb_attestation* attestation = NULL;
  lb_results* results = NULL;
  int result = 1;

  if (lb_options_create(&options) != LB_OK || lb_options_set(options, "device", argc == 5 ? argv[4] : NULL) != LB_OK ||
      lb_runtime_create(options, &runtime) != LB_OK) {
    fail("starting");
    goto done;
  }
  if (lb_encoder_open(runtime, argv[1], NULL, NULL, NULL, &encoder) != LB_OK) {
    fail(argv[1]);
    goto done;
  }

  const lb_text texts[2] = {{argv[2], strlen(argv[2])}, {argv[3], strlen(argv[3])}};
  lb_dense_rows vectors = {0};
  if (lb_encoder_encode(encoder, texts, 2, NULL, NULL, &results, NULL) != LB_OK ||
      lb_results_dense(results, "dense", &vectors) != LB_OK) {
    fail("embedding");
    goto done;
  }

  /* The default model's vectors have length 1, so their product is the cosine. */
  double cosine = 0;
  for (size_t i = 0; i < vectors.dimension; ++i)
    cosine += (double)vectors.values[i] * (double)vectors.values[vectors.dimension + i];

  lb_active active = LB_INIT(lb_active);
  if (lb_encoder_attestation(encoder, &attestation) != LB_OK || lb_attestation_get(attestation, &active) != LB_OK) {
    fail("attesting");
    goto done;
  }
  printf("%.4f by %s:%s in %s (%s)\n", cosine, active.backend, active.device, active.precision, active.runtime_version);
  if (active.fallback) printf("fallback: %s\n", active.reason);
  result = 0;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("writing");
    result = 1;
  }

done:
  lb_results_destroy(results);
  lb_attestation_destroy(attestation);
  lb_encoder_destroy(encoder);
  lb_runtime_destroy(runtime);
  lb_options_destroy(options);
  return result;
}
