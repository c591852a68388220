// confine [--cpus LIST] [--set NAME=VALUE] [--cgroup FOLDER] [--refuse CALL=ERRNO] -- PROGRAM ...
// runs PROGRAM with fewer rights: on some CPUs only, in another control group, with system calls
// that are answered with an error and do nothing. Exits 125 where that cannot be arranged.
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

[[noreturn]] void cannot(const std::string& what) {
  std::fprintf(stderr, "confine: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(125);
}

void keep_to(const std::string& list) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  std::size_t at = 0;
  while (at < list.size()) {
    std::size_t used = 0;
    CPU_SET(static_cast<std::size_t>(std::stoi(list.substr(at), &used)), &cpus);
    at += used + 1;
  }
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) cannot("--cpus " + list);
}

void move_to(const std::string& folder) {
  std::ofstream file(folder + "/cgroup.procs");
  file << getpid() << std::flush;
  if (!file) cannot("--cgroup " + folder);
}

int number_of(std::string_view call) {
  struct Call {
    std::string_view name;
    int number;
  };
  constexpr Call kCalls[] = {{"sched_setaffinity", __NR_sched_setaffinity},
                             {"mbind", __NR_mbind},
                             {"set_mempolicy", __NR_set_mempolicy},
                             {"io_uring_setup", __NR_io_uring_setup}};
  for (const Call& known : kCalls)
    if (known.name == call) return known.number;
  errno = EINVAL;
  cannot("--refuse " + std::string(call));
}

/// "sched_setaffinity=1": answers EPERM from here on. An errno of 0 is success that does nothing.
void refuse(const std::string& what) {
  const std::size_t equals = what.find('=');
  const auto number = static_cast<unsigned>(number_of(what.substr(0, equals)));
  const auto error = static_cast<unsigned>(std::stoi(what.substr(equals + 1)));
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    cannot("--refuse " + what);
}

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> refusals;
  int at = 1;
  for (; at + 1 < count && std::string_view(words[at]) != "--"; at += 2) {
    const std::string_view option = words[at];
    const std::string value = words[at + 1];
    if (option == "--cpus") keep_to(value);
    if (option == "--cgroup") move_to(value);
    if (option == "--set")
      setenv(value.substr(0, value.find('=')).c_str(), value.substr(value.find('=') + 1).c_str(),
             1);
    if (option == "--refuse") refusals.push_back(value);
  }
  // Last, so that what stands above is still allowed.
  for (const std::string& call : refusals) refuse(call);
  if (at + 1 >= count) return 125;
  execv(words[at + 1], words + at + 1);
  cannot(words[at + 1]);
}
