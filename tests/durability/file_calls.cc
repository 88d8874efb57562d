#include "tests/durability/file_calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <fstream>

#include "tests/support/command.h"

namespace slimgraph::test {
namespace {

namespace fs = std::filesystem;

PowerLosses* current_losses = nullptr;
std::string failing_call;

struct stat StatOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info;
}

}  // namespace

PowerLosses* PowerLosses::current() { return current_losses; }

PowerLosses::PowerLosses(const std::string& folder)
    : folder_(folder), root_(StatOf(folder).st_ino) {
  std::vector<std::string> all = {folder};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) all.push_back(entry.path());
  for (const std::string& path : all) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    Synced(fd);
    ::close(fd);
  }
  current_losses = this;
}

PowerLosses::~PowerLosses() {
  current_losses = nullptr;
  for (const int fd : kept_) ::close(fd);
}

void PowerLosses::AtEachCall(std::function<void()> look) { look_ = std::move(look); }

void PowerLosses::Look() {
  if (!look_) return;
  looking_ = true;
  look_();
  looking_ = false;
}

void PowerLosses::NamesChanged() {
  if (!looking_) Look();
}

void PowerLosses::Synced(int fd) {
  if (looking_) return;
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return;
  if (!files_.contains(info.st_ino) && !folders_.contains(info.st_ino)) {
    kept_.push_back(::dup(fd));
  }
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (S_ISDIR(info.st_mode)) {
    Folder& folder = folders_[info.st_ino];
    folder.names.clear();
    for (const auto& entry : fs::directory_iterator(path)) {
      folder.names[entry.path().filename()] = StatOf(entry.path()).st_ino;
    }
  } else if (S_ISREG(info.st_mode)) {
    std::string& contents = files_[info.st_ino];
    contents.resize(static_cast<std::size_t>(info.st_size));
    std::ifstream(path, std::ios::binary).read(contents.data(), info.st_size);
  }
  Look();
}

void PowerLosses::Leave(Names names, const std::string& to) const {
  fs::remove_all(to);
  if (names == Names::kLost) {
    LeaveDurable(root_, to);
  } else {
    LeaveNames(folder_, to);
  }
}

void PowerLosses::WriteContents(Inode file, const std::string& to) const {
  const auto contents = files_.find(file);
  WriteText(to, contents == files_.end() ? "" : contents->second);
}

// A durable name is left as an empty file if its file or folder was never synced.
void PowerLosses::LeaveDurable(Inode folder, const std::string& to) const {
  fs::create_directory(to);
  for (const auto& [name, inode] : folders_.at(folder).names) {
    if (folders_.contains(inode)) {
      LeaveDurable(inode, to + "/" + name);
    } else {
      WriteContents(inode, to + "/" + name);
    }
  }
}

void PowerLosses::LeaveNames(const std::string& from, const std::string& to) const {
  fs::create_directory(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename();
    if (entry.is_directory()) {
      LeaveNames(entry.path(), to + "/" + name);
    } else {
      WriteContents(StatOf(entry.path()).st_ino, to + "/" + name);
    }
  }
}

FailingCalls::FailingCalls(std::string name) { failing_call = std::move(name); }
FailingCalls::~FailingCalls() { failing_call.clear(); }
bool FailingCalls::Fail(const char* name) {
  if (failing_call != name) return false;
  errno = EIO;
  return true;
}

namespace {

template <typename Call>
Call* Real(const char* name) {
  return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

int TellSynced(int fd, int result) {
  if (result == 0 && PowerLosses::current() != nullptr) PowerLosses::current()->Synced(fd);
  return result;
}

int TellNames(int result) {
  const int reason = errno;
  if (result >= 0 && PowerLosses::current() != nullptr) PowerLosses::current()->NamesChanged();
  errno = reason;
  return result;
}

bool IsWritten(int fd) {
  struct stat info = {};
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && ::fstat(fd, &info) == 0 &&
         S_ISREG(info.st_mode);
}

}  // namespace
}  // namespace slimgraph::test

namespace test = slimgraph::test;

extern "C" {

int fsync(int fd) {
  static auto* const real = test::Real<int(int)>("fsync");
  return test::FailingCalls::Fail("fsync") ? -1 : test::TellSynced(fd, real(fd));
}

int fdatasync(int fd) {
  static auto* const real = test::Real<int(int)>("fdatasync");
  return test::FailingCalls::Fail("fdatasync") ? -1 : test::TellSynced(fd, real(fd));
}

int close(int fd) {
  static auto* const real = test::Real<int(int)>("close");
  const bool fails = test::IsWritten(fd) && test::FailingCalls::Fail("close");
  const int result = real(fd);
  if (fails) errno = EIO;
  return fails ? -1 : result;
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = test::Real<int(const char*, const char*)>("rename");
  return test::FailingCalls::Fail("rename") ? -1 : test::TellNames(real(from, to));
}

int unlink(const char* path) noexcept {
  static auto* const real = test::Real<int(const char*)>("unlink");
  return test::TellNames(real(path));
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = test::Real<int(const char*, mode_t)>("mkdir");
  return test::TellNames(real(path, mode));
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static auto* const real = test::Real<int(int, const char*, int, const char*, int)>("linkat");
  return test::TellNames(real(from_folder, from, to_folder, to, flags));
}

int open(const char* path, int flags, ...) {
  static auto* const real = test::Real<int(const char*, int, ...)>("open");
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  if (!makes) return real(path, flags);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if ((flags & O_TMPFILE) == O_TMPFILE && test::FailingCalls::Fail("tmpfile")) {
    errno = EOPNOTSUPP;
    return -1;
  }
  const int fd = real(path, flags, mode);
  return (flags & O_CREAT) != 0 ? test::TellNames(fd) : fd;
}
}
