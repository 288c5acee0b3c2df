/* Runs a job and prints its report: the program's commands, from C.
 *
 *   job NAME ARGUMENTS [KEY=TEXT]...       job compile '{"model": "m", "output": "m.lbundle", "target": ["cpu"]}'
 *
 * KEY=TEXT sets an option, such as device=cpu. Without arguments, it lists the jobs.
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

/* Returns `result`, or 1 when the output could not be written completely. */
static int finish_output(int result) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return result;
  perror("writing");
  return 1;
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

static int list_jobs(void) {
  for (size_t i = 0; i < lb_job_kind_count(); ++i) {
    lb_job_kind kind = LB_INIT(lb_job_kind);
    if (lb_job_kind_at(i, &kind) != LB_OK) return fail("listing");
    printf("%s %s\n", kind.name, kind.arguments);
  }
  return finish_output(0);
}

int main(int argc, char** argv) {
  if (argc == 1) return list_jobs();
  if (argc < 3) {
    fprintf(stderr, "usage: %s NAME ARGUMENTS [KEY=TEXT]...\n", argv[0]);
    return 2;
  }
  lb_options* options = NULL;
  lb_runtime* runtime = NULL;
  lb_job* job = NULL;
  const char* report = NULL;
  int result = lb_options_create(&options) == LB_OK ? 0 : fail("starting");
  for (int i = 3; i < argc && result == 0; ++i)
    result = set(options, argv[i]);
  if (result == 0 && lb_runtime_create(options, &runtime) != LB_OK) result = fail("starting");
  if (result == 0 && lb_job_start(runtime, argv[1], argv[2], NULL, &job) != LB_OK) result = fail(argv[1]);
  if (result == 0) {
    lb_job_progress progress = LB_INIT(lb_job_progress);
    while (lb_job_wait(job, 1000, &progress) == LB_DEADLINE_EXCEEDED) {
      fprintf(stderr, "%s (%llu of %llu)\n", progress.activity, (unsigned long long)progress.done,
              (unsigned long long)progress.total);
    }
    if (lb_job_result(job, &report) != LB_OK) result = fail(argv[1]);
    if (report != NULL) fputs(report, stdout);
  }
  lb_job_destroy(job);
  lb_runtime_destroy(runtime);
  lb_options_destroy(options);
  return finish_output(result);
}
