#include <latebind/latebind.h>

int plain_c_works(void);

int plain_c_works(void) {
  lb_error error = LB_INIT(lb_error);
  lb_last_error(&error);
  return lb_abi_version() == LATEBIND_ABI_VERSION && error.code == LB_OK;
}
