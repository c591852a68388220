#include "machine/thread_binding.hpp"

#include <weir/machine_view.hpp>

#include <cerrno>
#include <cstddef>
#include <thread>

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace weir {
namespace {

/// From here on sched_setaffinity answers `error` in the calling thread, and does nothing. False
/// where the kernel does not let us arrange that.
bool refuse_binding_with(unsigned error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sched_setaffinity, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{sizeof code / sizeof code[0], code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

struct Attempt {
  bool arranged = true;
  BindResult result = BindResult::pinned;
  CpuSet mask_after;
};

/// Binds a thread made for it, so that nothing of it stays.
Attempt bind_a_thread(const CpuSet& cpus) {
  Attempt attempt;
  std::thread([&] {
    attempt.result = bind_this_thread(cpus);
    attempt.mask_after = thread_affinity();
  }).join();
  return attempt;
}

Attempt bind_a_thread_where_refused(unsigned error, const CpuSet& cpus) {
  Attempt attempt;
  std::thread([&] {
    attempt.arranged = refuse_binding_with(error);
    attempt.result = bind_this_thread(cpus);
  }).join();
  return attempt;
}

TEST(ThreadBinding, PinsTheCallingThreadAlone) {
  const CpuSet before = thread_affinity();
  for (const int cpu : before.cpus()) {
    const Attempt attempt = bind_a_thread({cpu});
    EXPECT_EQ(attempt.result, BindResult::pinned);
    EXPECT_EQ(attempt.mask_after, CpuSet{cpu});
  }
  EXPECT_EQ(thread_affinity(), before);
}

TEST(ThreadBinding, IsPinnedWhereTheKernelDropsCpusThatAreNotThere) {
  const int cpu = thread_affinity().cpus().front();
  const Attempt attempt = bind_a_thread({cpu, 8000});
  EXPECT_EQ(attempt.result, BindResult::pinned);
  EXPECT_EQ(attempt.mask_after, CpuSet{cpu});
}

TEST(ThreadBinding, TellsCpusOutOfReachFromRefusal) {
  EXPECT_EQ(bind_a_thread({8000}).result, BindResult::outside);
  EXPECT_EQ(bind_a_thread({}).result, BindResult::outside);
}

TEST(ThreadBinding, TellsRefusalsApart) {
  const CpuSet mask = thread_affinity();
  const Attempt denied = bind_a_thread_where_refused(EPERM, mask);
  if (!denied.arranged) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(denied.result, BindResult::not_permitted);
  EXPECT_EQ(bind_a_thread_where_refused(ENOSYS, mask).result, BindResult::not_supported);
}

TEST(ThreadBinding, NoticesABindingThatWasAcceptedButNotDone) {
  const CpuSet mask = thread_affinity();
  if (mask.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const Attempt attempt = bind_a_thread_where_refused(0, {mask.cpus().front()});
  if (!attempt.arranged) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(attempt.result, BindResult::mismatch);
}

}  // namespace
}  // namespace weir
