#include <latebind/latebind.h>
#include <stdio.h>

int plain_c_works(void);

int main(void) {
  puts(lb_version());
  return plain_c_works() ? 0 : 1;
}
