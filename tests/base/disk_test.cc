// The simulated disk: what is read before and after power cuts, and its failures.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>

#include "slimgraph/base/sim/disk.h"

namespace slimgraph::sim {
namespace {

Disks& disks() { return Disks::Current(); }

// Runs `body` with many seeds.
void WithManySeeds(const std::function<void()>& body) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Scheduler scheduler({.seed = seed});
    scheduler.Start(1, "main", body);
    EXPECT_EQ(scheduler.Run().failure, "");
  }
}

Bytes BytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

int Create(const std::string& path) { return disks().Open(path, O_RDWR | O_CREAT); }

void WriteAll(int fd, const std::string& text, std::uint64_t offset = 0) {
  for (Bytes rest = BytesOf(text); !rest.empty();) {
    const ssize_t wrote = disks().WriteAt(fd, rest, offset);
    ASSERT_GT(wrote, 0);
    rest = rest.subspan(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
}

// The contents of the file; "none" if there is no such file.
std::string Contents(const std::string& path) {
  const int fd = disks().Open(path, O_RDONLY);
  if (fd < 0) return errno == ENOENT ? "none" : "cannot be opened";
  std::string text(1 << 16, ' ');
  std::size_t done = 0;
  while (true) {
    const auto into = std::as_writable_bytes(std::span(text)).subspan(done);
    const ssize_t read = disks().ReadAt(fd, into, done);
    if (read <= 0) break;
    done += static_cast<std::size_t>(read);
  }
  disks().Close(fd);
  text.resize(done);
  return text;
}

void SyncFolder(const std::string& path) {
  const int fd = disks().Open(path, O_RDONLY);
  EXPECT_EQ(disks().Sync(fd), 0);
  disks().Close(fd);
}

void CutPower() { disks().CutPower(0); }

TEST(SimulatedDisk, KeepsWhatWasSynced) {
  WithManySeeds([] {
    const std::string text(1500, 'a');
    const int fd = Create("/sim/0/file");
    WriteAll(fd, text);
    EXPECT_EQ(Contents("/sim/0/file"), text);
    EXPECT_EQ(disks().Sync(fd), 0);
    SyncFolder("/sim/0");
    EXPECT_EQ(disks().Truncate(fd, 600), 0);
    EXPECT_EQ(disks().Sync(fd), 0);
    for (int i = 0; i < 2; ++i) {
      CutPower();
      EXPECT_EQ(Contents("/sim/0/file"), text.substr(0, 600));
    }
    EXPECT_EQ(disks().Truncate(fd, 0), -1) << "a power cut closes files";
  });
}

// A node works on another node's disk while the power of that one is cut.
TEST(SimulatedDisk, FailsASyncThatAPowerCutInterrupts) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Scheduler scheduler({.seed = seed});
    const std::string text(2000, 'a');
    int synced = -1;
    scheduler.Start(1, "writer", [&] {
      const int fd = Create("/sim/0/file");
      SyncFolder("/sim/0");
      ssize_t wrote = 1;
      for (std::size_t at = 0; at < text.size() && wrote > 0; at += static_cast<std::size_t>(wrote))
        wrote = disks().WriteAt(fd, BytesOf(text).subspan(at), at);
      if (wrote > 0) synced = disks().Sync(fd);
    });
    scheduler.Start(2, "operator", [&] {
      while (disks().operations(0) < 4) Scheduler::Current()->Point();
      Scheduler::Current()->Spend(scheduler.Random(500'000));
      CutPower();
    });
    std::string left;
    scheduler.Start(3, "reader", [&] {
      scheduler.SleepUntil(1'000'000'000);
      left = Contents("/sim/0/file");
    });
    EXPECT_EQ(scheduler.Run().failure, "");
    if (synced == 0) {
      EXPECT_EQ(left, text);
    }
    seen.insert(synced == 0 ? "synced" : left == text ? "kept" : "lost");
  }
  EXPECT_EQ(seen, (std::set<std::string>{"synced", "kept", "lost"}));
}

// Sectors of two generations are mixed, and no sector is torn.
TEST(SimulatedDisk, TearsWritesAtSectors) {
  std::set<std::string> seen;
  WithManySeeds([&seen] {
    const int fd = Create("/sim/0/file");
    WriteAll(fd, std::string(2048, 'a'));
    disks().Sync(fd);
    SyncFolder("/sim/0");
    const std::string second(2048, 'b');
    if (disks().WriteAt(fd, BytesOf(second), 0) != 2048) return;  // it may end inside a sector
    EXPECT_EQ(Contents("/sim/0/file"), second);
    CutPower();
    const std::string left = Contents("/sim/0/file");
    ASSERT_EQ(left.size(), 2048u);
    std::string sectors;
    for (std::size_t s = 0; s < 4; ++s) {
      EXPECT_EQ(left.substr(s * 512, 512), std::string(512, left[s * 512]));
      sectors += left[s * 512];
    }
    seen.insert(sectors);
    CutPower();
    EXPECT_EQ(Contents("/sim/0/file"), left);
  });
  EXPECT_EQ(seen.size(), 16u) << "every mix";
}

// Length and sectors are lost or kept apart from each other.
TEST(SimulatedDisk, LosesLengths) {
  std::set<std::string> seen;
  WithManySeeds([&seen] {
    const int fd = Create("/sim/0/file");
    SyncFolder("/sim/0");
    WriteAll(fd, std::string(100, 'a'));
    CutPower();
    const std::string left = Contents("/sim/0/file");
    seen.insert(left.empty() ? "empty" : left[0] == 'a' ? "written" : left[0] == 0 ? "0" : "other");
  });
  EXPECT_EQ(seen, (std::set<std::string>{"empty", "written", "0", "other"}));
}

TEST(SimulatedDisk, MayForgetATruncation) {
  std::set<std::string> seen;
  WithManySeeds([&seen] {
    const int fd = Create("/sim/0/file");
    WriteAll(fd, std::string(1024, 'a'));
    disks().Sync(fd);
    SyncFolder("/sim/0");
    disks().Truncate(fd, 0);
    EXPECT_EQ(Contents("/sim/0/file"), "");
    WriteAll(fd, std::string(512, 'b'));
    CutPower();
    const std::string left = Contents("/sim/0/file");
    if (left.size() == 1024) seen.insert({left.front(), left.back()});
  });
  EXPECT_EQ(seen, (std::set<std::string>{"aa", "ba"}));
}

TEST(SimulatedDisk, LosesNamesThatWereNotSynced) {
  std::set<std::string> seen;
  WithManySeeds([&seen] {
    for (const char* const name : {"/sim/0/x", "/sim/0/old"}) {
      const int fd = Create(name);
      WriteAll(fd, name + 7);
      EXPECT_EQ(disks().Sync(fd), 0);
      disks().Close(fd);
    }
    SyncFolder("/sim/0");
    EXPECT_EQ(disks().Rename("/sim/0/x", "/sim/0/old"), 0);
    EXPECT_EQ(Contents("/sim/0/x"), "none");
    EXPECT_EQ(Contents("/sim/0/old"), "x");
    EXPECT_EQ(disks().MakeFolder("/sim/0/folder"), 0);
    CutPower();
    std::vector<std::string> names;
    EXPECT_EQ(disks().List("/sim/0", names), 0);
    seen.insert(std::string(names[0] == "folder" ? "folder " : "") + Contents("/sim/0/x") + " " +
                Contents("/sim/0/old"));
  });
  std::set<std::string> expected;
  for (const char* const folder : {"", "folder "}) {
    for (const char* const x : {"none", "x"}) {
      for (const char* const old : {"old", "x"}) {
        expected.insert(std::string(folder) + x + " " + old);
      }
    }
  }
  EXPECT_EQ(seen, expected) << "in every combination, but never without a file that was replaced";
}

TEST(SimulatedDisk, KeepsNamesThatWereSynced) {
  WithManySeeds([] {
    EXPECT_EQ(disks().MakeFolder("/sim/0/folder"), 0);
    SyncFolder("/sim/0");
    const int fd = Create("/sim/0/folder/a");
    EXPECT_EQ(disks().Rename("/sim/0/folder/a", "/sim/0/folder/b"), 0);
    SyncFolder("/sim/0/folder");
    disks().Close(fd);
    CutPower();
    EXPECT_EQ(Contents("/sim/0/folder/a"), "none");
    EXPECT_EQ(Contents("/sim/0/folder/b"), "");
    EXPECT_EQ(disks().RemoveFolder("/sim/0/folder"), -1);
    EXPECT_EQ(errno, ENOTEMPTY);
    EXPECT_EQ(disks().Remove("/sim/0/folder/b"), 0);
    SyncFolder("/sim/0/folder");
    CutPower();
    EXPECT_EQ(disks().RemoveFolder("/sim/0/folder"), 0);
  });
}

TEST(SimulatedDisk, NamesFilesThatHadNone) {
  std::set<bool> has;
  WithManySeeds([&has] {
    const int fd = disks().Open("/sim/0", O_TMPFILE | O_RDWR);
    has.insert(fd >= 0);
    if (fd < 0) return;
    WriteAll(fd, "text");
    EXPECT_EQ(disks().Name(fd, "/sim/0/file"), 0);
    EXPECT_EQ(Contents("/sim/0/file"), "text");
    EXPECT_EQ(disks().Name(fd, "/sim/0/file"), -1);
    EXPECT_EQ(errno, EEXIST);
  });
  EXPECT_EQ(has.size(), 2u) << "some disks have no such files";
}

// A sync that failed has written some sectors. The next one does not write the others.
TEST(SimulatedDisk, AFailedSyncIsNotMendedByTheNext) {
  std::set<std::string> seen;
  WithManySeeds([&seen] {
    const int fd = Create("/sim/0/file");
    SyncFolder("/sim/0");
    WriteAll(fd, std::string(1024, 'a'));
    disks().FailAfter(0, 0);
    EXPECT_EQ(disks().Sync(fd), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(disks().Sync(fd), 0);
    EXPECT_EQ(Contents("/sim/0/file"), std::string(1024, 'a'));
    CutPower();
    const std::string left = Contents("/sim/0/file");
    ASSERT_EQ(left.size(), 1024u);
    seen.insert({left.front() == 'a' ? 'a' : '-', left.back() == 'a' ? 'a' : '-'});
  });
  EXPECT_EQ(seen, (std::set<std::string>{"aa", "a-", "-a", "--"}));
}

TEST(SimulatedDisk, FailsAtTheChosenOperation) {
  WithManySeeds([] {
    disks().FailAfter(0, 1);
    const int fd = Create("/sim/0/file");
    ASSERT_GE(fd, 0);
    EXPECT_EQ(disks().WriteAt(fd, BytesOf("text"), 0), -1);
    EXPECT_EQ(errno, EIO);
    WriteAll(fd, "text");
    EXPECT_EQ(Contents("/sim/0/file"), "text");
  });
}

TEST(SimulatedDisk, BecomesFull) {
  WithManySeeds([] {
    disks().LimitRoom(0, 1000);
    const int fd = Create("/sim/0/file");
    WriteAll(fd, std::string(900, 'a'));
    std::uint64_t end = 900;
    ssize_t wrote = 0;
    while ((wrote = disks().WriteAt(fd, BytesOf(std::string(200, 'b')), end)) > 0) {
      end += static_cast<std::uint64_t>(wrote);
    }
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_EQ(end, 1000u);
    EXPECT_EQ(Create("/sim/0/other"), -1);
    EXPECT_EQ(errno, ENOSPC);
    WriteAll(fd, "what is there can be overwritten");
    disks().LimitRoom(0, kForever);
    WriteAll(fd, "b", 1000);
  });
}

TEST(SimulatedDisk, UnlocksWhatAnEndedNodeHasLocked) {
  WithManySeeds([] {
    Scheduler& scheduler = *Scheduler::Current();
    const auto lock = [](int kind) {
      const int fd = disks().Open("/sim/0", O_RDONLY | O_DIRECTORY);
      return disks().Lock(fd, kind | LOCK_NB) == 0 ? fd : -1;
    };
    scheduler.Start(2, "holder", [&] {
      EXPECT_GE(lock(LOCK_SH), 0);
      scheduler.SleepUntil(kForever - 1);
    });
    scheduler.SleepUntil(1'000'000'000);
    EXPECT_GE(lock(LOCK_SH), 0);
    EXPECT_EQ(lock(LOCK_EX), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
    scheduler.EndNode(2, 1);
    disks().CloseAllOf(1);
    EXPECT_GE(lock(LOCK_EX), 0);
    EXPECT_EQ(lock(LOCK_SH), -1);
  });
}

// Files of a node are closed when it ends, but nothing is lost: a later sync makes it durable.
TEST(SimulatedDisk, KeepsItsCacheWhenANodeEnds) {
  WithManySeeds([] {
    Scheduler& scheduler = *Scheduler::Current();
    scheduler.Start(0, "writer", [&] {
      WriteAll(Create("/sim/0/file"), "text");
      scheduler.EndNode(0, 1);
    });
    scheduler.SleepUntil(1'000'000'000);
    const int fd = disks().Open("/sim/0/file", O_RDWR);
    EXPECT_EQ(disks().Sync(fd), 0);
    SyncFolder("/sim/0");
    CutPower();
    EXPECT_EQ(Contents("/sim/0/file"), "text");
  });
}

// A power cut in the middle of a sync leaves what it would leave without the sync.
TEST(SimulatedDisk, LosesWhatASyncHasNotEnded) {
  std::set<std::string> seen;
  WithManySeeds([&seen] {
    Scheduler& scheduler = *Scheduler::Current();
    disks().SetSyncTime(0, 1'000'000);
    const int folder = disks().Open("/sim/0", O_RDONLY);
    disks().Close(Create("/sim/0/file"));
    disks().Sync(folder);
    scheduler.Start(0, "writer", [&] {
      const int fd = disks().Open("/sim/0/file", O_RDWR);
      WriteAll(fd, "text");
      disks().Sync(fd);
      seen.insert("synced");
      scheduler.SleepUntil(kForever - 1);
    });
    scheduler.SleepUntil(scheduler.now_ns() + scheduler.Random(2'000'000));
    scheduler.EndNode(0, 1);
    CutPower();
    seen.insert(Contents("/sim/0/file") == "text" ? "kept" : "lost");
  });
  EXPECT_EQ(seen, (std::set<std::string>{"synced", "kept", "lost"}));
}

}  // namespace
}  // namespace slimgraph::sim
