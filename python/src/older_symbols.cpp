// SPDX-License-Identifier: Apache-2.0
//
// Two functions for which the compiler's libraries have a newer version that the wheel would need on the user's
// machine, though the older one does as well. Calls come here (-Wl,--wrap) and go on to the older version, so that the
// wheel runs with glibc 2.34 and GCC 11's libstdc++ (manylinux_2_34).
extern "C" {

double hypot_of_2_2_5(double x, double y);
__asm__(".symver hypot_of_2_2_5, hypot@GLIBC_2.2.5");
double __wrap_hypot(double x, double y) { return hypot_of_2_2_5(x, y); }

// std::condition_variable::wait: the newer version differs in being noexcept only.
void wait_of_3_4_11(void* condition, void* lock);
__asm__(".symver wait_of_3_4_11, _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(void* condition, void* lock) {
  wait_of_3_4_11(condition, lock);
}
}
