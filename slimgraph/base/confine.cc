#include "slimgraph/base/confine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "slimgraph/base/files.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {
namespace {

// The kernel's landlock_ruleset_attr. Older headers lack the last two.
struct Rules {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};
constexpr std::uint64_t kScopeOfSignals = 2;

// What the kernel can do; less than 1: nothing.
long Generation() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0},
                   LANDLOCK_CREATE_RULESET_VERSION);
}

// All kinds of access to files that this generation can forbid.
std::uint64_t AllAccess(long generation) {
  const int kinds = generation >= 5 ? 16 : generation >= 3 ? 15 : generation == 2 ? 14 : 13;
  return (std::uint64_t{1} << kinds) - 1;
}

constexpr std::uint64_t kReadsFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kReadsFolder = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

Status Allow(int rules, const std::string& path, std::uint64_t access) {
  const UniqueFd opened(files::Open(path, O_PATH | O_CLOEXEC));
  if (!opened && errno == ENOENT) return {};
  const landlock_path_beneath_attr rule{.allowed_access = access, .parent_fd = opened.get()};
  if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) return {};
  return EnvironmentError("cannot confine the process to reading {}: {}", path,
                          std::strerror(errno));
}

// Root's powers would let it look into other processes. They do not come back without new programs.
bool GiveUpCapabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0;
}

}  // namespace

bool CanConfine() { return Generation() >= 1; }

Status Confine(const std::string& file) {
  const long generation = Generation();
  const Rules wanted{.files = AllAccess(generation),
                     .scopes = generation >= 6 ? kScopeOfSignals : 0};
  const UniqueFd rules(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &wanted, sizeof(wanted), std::uint32_t{0})));
  if (generation < 1 || !rules) {
    return EnvironmentError("cannot confine the process: this system has no Landlock ({})",
                            std::strerror(errno));
  }
  for (const char* const folder : {"/proc", "/sys"}) {
    SLIM_TRY(Allow(rules.get(), folder, kReadsFolder));
  }
  SLIM_TRY(Allow(rules.get(), file, kReadsFile));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !GiveUpCapabilities() ||
      ::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0) {
    return EnvironmentError("cannot confine the process: {}", std::strerror(errno));
  }
  return {};
}

}  // namespace slimgraph
