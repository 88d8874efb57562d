#include "apps/measure/bench_fabric_bars.h"

#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/usage.h"

namespace slimgraph {

namespace {

constexpr int kRounds = 101;

// The median over rounds of time(ours) / time(theirs). Each round runs prepare, ours and theirs.
template <typename Prepare, typename Ours, typename Theirs>
double MedianRatio(Prepare prepare, Ours ours, Theirs theirs) {
  std::vector<double> ratios;
  for (int round = 0; round < kRounds; ++round) {
    prepare();
    const std::uint64_t start_ns = NowNs();
    ours();
    const std::uint64_t middle_ns = NowNs();
    theirs();
    const std::uint64_t end_ns = NowNs();
    ratios.push_back(static_cast<double>(middle_ns - start_ns) /
                     static_cast<double>(end_ns - middle_ns));
  }
  return Median(std::move(ratios));
}

bool SendAll(int fd, const std::byte* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = ::send(fd, data, bytes, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool ReceiveAll(int fd, std::byte* data, std::size_t bytes) {
  return ::recv(fd, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

// Pins all threads of this process to one processor while it lives. Without it, the ratio of two
// loops depends on the processors that their threads happen to use: up to threefold either way.
class OnOneProcessor {
 public:
  explicit OnOneProcessor(std::size_t index) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    std::vector<std::size_t> allowed;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) allowed.push_back(cpu);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed[index % allowed.size()], &one);
    SetAll(one);
  }
  ~OnOneProcessor() { SetAll(before_); }
  OnOneProcessor(const OnOneProcessor&) = delete;

 private:
  static void SetAll(const cpu_set_t& set) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      ::sched_setaffinity(std::stoi(task.path().filename().string()), sizeof set, &set);
    }
  }

  cpu_set_t before_;
};

constexpr std::chrono::seconds kConnectLimit{5};
constexpr std::size_t kRequestBytes = 16;
constexpr std::size_t kReplyBytes = 64 << 10;

// Serves the bare socket loop until the peer closes the connection.
void AnswerBareRequests(int listener, const std::byte* memory) {
  AwaitReadable(listener, kConnectLimit);
  const UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  SendWithoutDelay(fd.get());
  std::byte request[kRequestBytes];
  while (ReceiveAll(fd.get(), request, sizeof request)) {
    if (!SendAll(fd.get(), memory, kReplyBytes)) return;
  }
}

}  // namespace

FabricBar CompareLinesWithCopy(Fabric& fabric, RegionId region) {
  constexpr std::size_t kLines = 256;
  Endpoint& endpoint = fabric.endpoint(0);
  const std::byte* own = fabric.own_region(region).data();
  const std::uint64_t lines = fabric.region_bytes(kTarget, region) / kCacheLineBytes;
  std::vector<std::byte> into(kLines * kCacheLineBytes);
  std::vector<std::uint64_t> offsets(kLines);
  std::mt19937_64 random(1);
  const double ratio = MedianRatio(
      [&] {
        for (auto& offset : offsets) offset = random() % lines * kCacheLineBytes;
      },
      [&] {
        for (std::size_t i = 0; i < kLines; ++i) {
          endpoint.Read(kTarget, region, offsets[i],
                        MutableBytes(into).subspan(i * kCacheLineBytes, kCacheLineBytes), 0,
                        Signal::kNo);
        }
        endpoint.Flush();
      },
      [&] {
        for (std::size_t i = 0; i < kLines; ++i) {
          std::memcpy(into.data() + i * kCacheLineBytes, own + offsets[i], kCacheLineBytes);
        }
        asm volatile("" : : "r"(into.data()) : "memory");
      });
  return {.claim = "time of batched 64-byte reads, as a multiple of a plain copy of such lines",
          .value = ratio,
          .bound = 3,
          .at_most = true};
}

FabricBar CompareLargeReadsWithCopy(Fabric& fabric, RegionId region) {
  constexpr std::size_t kBytes = 1 << 20;
  Endpoint& endpoint = fabric.endpoint(0);
  const std::byte* own = fabric.own_region(region).data();
  const std::uint64_t pieces = fabric.region_bytes(kTarget, region) / kBytes;
  std::vector<std::byte> into(kBytes);
  std::uint64_t offset = 0;
  std::mt19937_64 random(2);
  const double ratio = MedianRatio([&] { offset = random() % pieces * kBytes; },
                                   [&] {
                                     endpoint.Read(kTarget, region, offset, into);
                                     endpoint.Flush();
                                   },
                                   [&] {
                                     std::memcpy(into.data(), own + offset, kBytes);
                                     asm volatile("" : : "r"(into.data()) : "memory");
                                   });
  return {.claim = "bandwidth of 1 MiB reads, as a share of a plain copy's",
          .value = 1 / ratio,
          .bound = 0.8,
          .at_most = false};
}

Result<FabricBar> CompareReadsWithSocket(Job& job, Fabric& fabric, RegionId region) {
  constexpr int kReadsPerRound = 20;
  UniqueFd listener;
  std::string contact;
  if (job.self() == kTarget) {
    SLIM_ASSIGN(listener, ListenTcp(job.address(kTarget)));
    contact = fmt::format("{}", LocalAddress(listener.get()).port());
  }
  SLIM_ASSIGN(const auto contacts, job.Exchange(contact));
  FabricBar bar{.claim = "bandwidth of 64 KiB reads one at a time, as a share of a bare socket's",
                .value = 0,
                .bound = 0.8,
                .at_most = false};
  const OnOneProcessor placed(job.self());
  if (job.self() == kTarget) {
    AnswerBareRequests(listener.get(), fabric.own_region(region).data());
  } else if (job.self() == 0) {
    const auto port = static_cast<std::uint16_t>(std::stoul(contacts[kTarget]));
    SLIM_ASSIGN(const SocketAddress address, Resolve(job.address(kTarget), port));
    SLIM_ASSIGN(const UniqueFd fd, ConnectTcp(address, kConnectLimit));
    SendWithoutDelay(fd.get());
    std::vector<std::byte> into(kReplyBytes);
    Endpoint& endpoint = fabric.endpoint(0);
    bool whole = true;
    const double ratio = MedianRatio([] {},
                                     [&] {
                                       for (int i = 0; i < kReadsPerRound; ++i) {
                                         endpoint.Read(kTarget, region, 0, into);
                                         whole = endpoint.Flush() == Outcome::kOk && whole;
                                       }
                                     },
                                     [&] {
                                       for (int i = 0; i < kReadsPerRound; ++i) {
                                         whole = SendAll(fd.get(), into.data(), kRequestBytes) &&
                                                 ReceiveAll(fd.get(), into.data(), into.size()) &&
                                                 whole;
                                       }
                                     });
    if (!whole) return EnvironmentError("node {} stopped answering", kTarget);
    bar.value = 1 / ratio;
  }
  SLIM_TRY(job.Exchange(""));
  return bar;
}

Result<FabricBar> MeasureParkedNode(Job& job, Fabric& fabric, double seconds) {
  using std::chrono::nanoseconds;
  const nanoseconds limit(static_cast<std::int64_t>(seconds * 1e9));
  Endpoint& endpoint = fabric.endpoint(0);
  endpoint.WaitUntil([] { return false; }, std::chrono::milliseconds(200));  // let traffic end
  const std::uint64_t start_ns = NowNs();
  const double before_s = ProcessorSeconds();
  endpoint.WaitUntil([] { return false; }, limit);
  const double share = (ProcessorSeconds() - before_s) / SecondsSince(start_ns);
  SLIM_ASSIGN(const auto shares, job.Exchange(fmt::format("{}", share)));
  return FabricBar{.claim = "percent of a processor that a parked node uses",
                   .value = 100 * std::stod(shares[kTarget]),
                   .bound = 1,
                   .at_most = true};
}

}  // namespace slimgraph
