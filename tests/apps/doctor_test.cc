#include "apps/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/doctor/doctor_checks.h"

namespace slimgraph {
namespace {

using ::testing::HasSubstr;
using Verdict = DoctorFinding::Verdict;

constexpr const char* kHydra =
    "HYDRA build details:\n    Version:                                 4.0.2\n    CC: gcc\n";

TEST(DoctorLauncher, IsHydraOrIsBad) {
  const auto good = JudgeLauncher({"/usr/bin/mpiexec.hydra", kHydra});
  EXPECT_EQ(good.verdict, Verdict::kGood);
  EXPECT_EQ(good.what, "/usr/bin/mpiexec.hydra, Hydra 4.0.2");
  const auto none = JudgeLauncher({});
  EXPECT_EQ(none.verdict, Verdict::kBad);
  EXPECT_EQ(none.mend, "apt-get install mpich");
  EXPECT_EQ(JudgeLauncher({"/opt/mpiexec.hydra", "mpiexec (OpenRTE) 4.1.4"}).verdict,
            Verdict::kBad);
}

TEST(DoctorDefaultMpi, AnotherMpiIsNotedWithItsConsequence) {
  EXPECT_EQ(JudgeDefaultMpi("mpiexec", {"/usr/bin/mpiexec", kHydra}).verdict, Verdict::kGood);
  EXPECT_EQ(JudgeDefaultMpi("mpiexec", {}).verdict, Verdict::kGood);
  const auto launcher = JudgeDefaultMpi(
      "mpiexec", {"/usr/bin/mpiexec", "mpiexec (OpenRTE) 4.1.4\nReport bugs to Open MPI\n"});
  EXPECT_EQ(launcher.verdict, Verdict::kNote);
  EXPECT_THAT(launcher.what, HasSubstr("Open MPI's: processes that it starts do not form one job"));
  EXPECT_THAT(launcher.mend, HasSubstr("mpiexec.hydra -n N"));
  const auto compiler = JudgeDefaultMpi(
      "mpicxx", {"/usr/bin/mpicxx", "g++ -I/usr/lib/x86_64-linux-gnu/openmpi/include -lmpi_cxx"});
  EXPECT_EQ(compiler.verdict, Verdict::kNote);
  EXPECT_EQ(compiler.mend, "compile with mpicxx.mpich");
  EXPECT_EQ(JudgeDefaultMpi("mpicxx", {"/usr/bin/mpicxx", "g++ -lmpichcxx -lmpich"}).verdict,
            Verdict::kGood);
}

std::string Limits(const std::string& soft) {
  return "Limit                     Soft Limit           Hard Limit           Units\n"
         "Max open files            1024                 4096                 files\n"
         "Max locked memory         " +
         soft + "              8388608              bytes\n";
}

TEST(DoctorLockedMemory, IsBadOnlyWhereAnAdapterNeedsIt) {
  EXPECT_EQ(JudgeLockedMemory(Limits("unlimited"), true).verdict, Verdict::kGood);
  EXPECT_EQ(JudgeLockedMemory(Limits("8388608"), false).verdict, Verdict::kNote);
  const auto bad = JudgeLockedMemory(Limits("8388608"), true);
  EXPECT_EQ(bad.verdict, Verdict::kBad);
  EXPECT_THAT(bad.what, HasSubstr("8.0 MiB"));
  EXPECT_THAT(bad.mend, HasSubstr("memlock unlimited"));
  EXPECT_EQ(JudgeLockedMemory("", true).verdict, Verdict::kNote);
}

TEST(DoctorHugePages, DisabledPagesComeWithTheCommandThatEnablesThem) {
  EXPECT_EQ(JudgeHugePages("always [madvise] never\n").verdict, Verdict::kGood);
  EXPECT_EQ(JudgeHugePages("always madvise [never]\n").mend,
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)");
  EXPECT_EQ(JudgeHugePages("").mend, "");
  EXPECT_EQ(JudgeSharedHugePages("always within_size [advise] never deny force\n").verdict,
            Verdict::kGood);
  EXPECT_EQ(JudgeSharedHugePages("always within_size advise [never] deny force\n").mend,
            "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled (as root)");
  EXPECT_EQ(JudgeSharedHugePages("][").verdict, Verdict::kNote);
}

TEST(DoctorNuma, CountsNodesAndProcessors) {
  EXPECT_EQ(JudgeNuma(true, 2, 32).what, "32 processors on 2 NUMA nodes");
  EXPECT_EQ(JudgeNuma(true, 1, 1).what, "1 processor on 1 NUMA node");
  EXPECT_EQ(JudgeNuma(false, 1, 8).verdict, Verdict::kNote);
}

TEST(DoctorRdma, NoAdapterIsANoteAndAnUnusableOneIsBad) {
  const RdmaPort first{"mlx5_0", "1", "4: ACTIVE", true};
  const RdmaPort second{"mlx5_1", "1", "1: DOWN", true};
  const RdmaPort third{"mlx5_2", "1", "4: ACTIVE", false};
  EXPECT_EQ(JudgeRdma({}, {}).verdict, Verdict::kNote);
  EXPECT_EQ(JudgeRdma({first, second}, {"rdma_cm", "uverbs0"}).what,
            "mlx5_0:1 (mlx5_1:1 is DOWN): --transport verbs works");
  const auto no_file = JudgeRdma({first}, {"rdma_cm"});
  EXPECT_EQ(no_file.verdict, Verdict::kBad);
  EXPECT_THAT(no_file.mend, HasSubstr("modprobe ib_uverbs"));
  const auto down = JudgeRdma({second}, {"uverbs0"});
  EXPECT_EQ(down.verdict, Verdict::kBad);
  EXPECT_THAT(down.what, HasSubstr("mlx5_1:1 is DOWN"));
  EXPECT_THAT(down.mend, HasSubstr("ip link set"));
  const auto no_gid = JudgeRdma({third}, {"uverbs0"});
  EXPECT_THAT(no_gid.what, HasSubstr("mlx5_2:1 has no GID"));
  EXPECT_THAT(no_gid.mend, HasSubstr("ip addr add"));
}

TEST(DoctorMemory, SaysWhatIsAvailable) {
  EXPECT_EQ(
      JudgeMemory("MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable: 8388608 kB\n").what,
      "8.0 GiB of 16.0 GiB are available");
  EXPECT_EQ(JudgeMemory("MemTotal: 16777216 kB\nMemAvailable: 1024 kB\n").verdict, Verdict::kBad);
  EXPECT_EQ(JudgeMemory("MemTotal: nonsense").verdict, Verdict::kNote);
}

TEST(DoctorSharedMemoryFiles, TheDefaultOfContainersIsNoted) {
  EXPECT_EQ(JudgeSharedMemoryFiles(std::uint64_t{1} << 30).verdict, Verdict::kGood);
  const auto container = JudgeSharedMemoryFiles(std::uint64_t{64} << 20);
  EXPECT_EQ(container.verdict, Verdict::kNote);
  EXPECT_THAT(container.mend, HasSubstr("--shm-size"));
  EXPECT_EQ(JudgeSharedMemoryFiles(1 << 20).verdict, Verdict::kBad);
  EXPECT_EQ(JudgeSharedMemoryFiles(std::nullopt).verdict, Verdict::kNote);
}

TEST(DoctorPeerMemory, FailureComesWithARemedy) {
  EXPECT_EQ(JudgePeerMemory("").verdict, Verdict::kGood);
  const auto bad = JudgePeerMemory("/proc/7/fd/3: Permission denied");
  EXPECT_EQ(bad.verdict, Verdict::kBad);
  EXPECT_THAT(bad.what, HasSubstr("Permission denied"));
  EXPECT_THAT(bad.mend, HasSubstr("--transport tcp"));
}

TEST(DoctorGroups, TightLimitsAreReported) {
  constexpr std::uint64_t kGiB = 1 << 30;
  EXPECT_EQ(JudgeGroupMemory({}).what, "no limit");
  EXPECT_EQ(JudgeGroupMemory({8 * kGiB, kGiB}).verdict, Verdict::kGood);
  EXPECT_EQ(JudgeGroupMemory({8 * kGiB, 8 * kGiB - 1}).verdict, Verdict::kNote);
  EXPECT_EQ(JudgeGroupMemory({8 * kGiB, 9 * kGiB}).verdict, Verdict::kNote);
  EXPECT_EQ(JudgeGroupMemory({kGiB / 8, 0}).verdict, Verdict::kBad);
  EXPECT_EQ(JudgeGroupProcessors(8.0, 8).verdict, Verdict::kGood);
  const auto quota = JudgeGroupProcessors(0.4, 8);
  EXPECT_EQ(quota.verdict, Verdict::kNote);
  EXPECT_THAT(quota.what, HasSubstr("0.40 of 8 processors"));
}

TEST(Doctor, ExitsWithTheEnvironmentsCodeOnlyForWhatIsBad) {
  const DoctorFinding good{"a", Verdict::kGood, "fine", ""};
  const DoctorFinding note{"b", Verdict::kNote, "slow", "do this"};
  const DoctorFinding bad{"c", Verdict::kBad, "broken", "do that"};
  EXPECT_EQ(DoctorExitCode({good, note}), 0);
  EXPECT_EQ(DoctorExitCode({good, bad, note}), 4);
  EXPECT_EQ(FormatFindings({good, bad}),
            "ok    a                   fine\n"
            "BAD   c                   broken\n"
            "                          -> do that\n"
            "1 ok, 0 to note, 1 bad\n");
}

TEST(Doctor, ExaminesThisMachine) {
  const auto findings = InspectMachine();
  EXPECT_GE(findings.size(), 12U);
  for (const DoctorFinding& finding : findings) {
    EXPECT_FALSE(finding.subject.empty());
    EXPECT_FALSE(finding.what.empty()) << finding.subject;
    if (finding.verdict == Verdict::kBad) {
      EXPECT_FALSE(finding.mend.empty()) << finding.subject;
    }
  }
}

}  // namespace
}  // namespace slimgraph
