#include "apps/measure/bench_fabric.h"

#include <algorithm>

#include "apps/measure/bench_fabric_bars.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"

namespace slimgraph {

namespace {

using namespace std::chrono_literals;

constexpr HandlerId kPing = 200;
constexpr HandlerId kPong = 201;
constexpr HandlerId kDone = 202;

constexpr std::size_t kBatchOperations = 256;
constexpr std::uint64_t kBatchBytes = 8 << 20;
constexpr std::size_t kLeastRounds = 5;
constexpr std::uint64_t kAtomicBytes = 8;

// Times `once` repeatedly for about `seconds`. Returns the median in seconds.
template <typename Once>
double MedianTime(double seconds, Once once) {
  once();
  std::vector<double> times;
  const std::uint64_t start_ns = NowNs();
  while (times.size() < kLeastRounds || SecondsSince(start_ns) < seconds) {
    const std::uint64_t before_ns = NowNs();
    once();
    times.push_back(SecondsSince(before_ns));
  }
  return Median(std::move(times));
}

// Node 0's side of the measurements.
class FabricMeasurement {
 public:
  FabricMeasurement(Fabric& fabric, RegionId region, const FabricBenchOptions& options)
      : endpoint_(fabric.endpoint(0)),
        region_(region),
        options_(options),
        buffer_(std::max(options.max_bytes, kBatchBytes)) {
    pong_ = fabric.SetHandler(kPong, [this](Endpoint&, const Message& message) {
      ++pongs_;
      if (keeps_body_) body_back_.assign(message.body.begin(), message.body.end());
    });
  }

  Result<std::vector<FabricBenchRow>> Run() {
    std::vector<FabricBenchRow> rows;
    for (const char* operation : {"read", "write"}) {
      for (std::uint64_t bytes = 8; bytes < options_.max_bytes; bytes *= 8) {
        rows.push_back(OneSided(operation, bytes));
      }
      rows.push_back(OneSided(operation, options_.max_bytes));
    }
    rows.push_back(OneSided("fetch-and-add", kAtomicBytes));
    rows.push_back(OneSided("compare-and-swap", kAtomicBytes));
    for (const std::uint64_t bytes : {std::size_t{8}, std::size_t{1024}, kMaxMessageBytes}) {
      rows.push_back(RoundTrip(bytes));
    }
    if (failure_ == Outcome::kOk && wrong_.empty()) return rows;
    if (failure_ == Outcome::kOk) {
      return VerificationError("over this transport, {} did not do what it should", wrong_);
    }
    return EnvironmentError("an operation on node {} ended with: {}", kTarget,
                            OutcomeName(failure_));
  }

  std::optional<std::uint64_t> PostsPerDoorbell() {
    const auto before = endpoint_.posts();
    for (std::size_t i = 0; i < kDoorbellReads; ++i) Collect("read", 8, 8 * i);
    Finish();
    if (!before) return std::nullopt;
    return *endpoint_.posts() - *before;
  }

 private:
  // Records a failed check. Each row is checked once, before it is measured.
  void Expect(bool right, const std::string& operation, std::uint64_t bytes) {
    if (!right && wrong_.empty()) wrong_ = fmt::format("{} of {}", operation, FormatBytes(bytes));
  }

  // Reads back what it has written.
  void VerifyTransfer(const std::string& operation, std::uint64_t bytes) {
    const MutableBytes local(buffer_.data(), bytes);
    const auto pattern = [&](std::size_t i) {
      return static_cast<std::byte>(i * 31 + i / 251 + bytes + operation.size());
    };
    for (std::size_t i = 0; i < bytes; ++i) local[i] = pattern(i);
    endpoint_.Write(kTarget, region_, 0, local, 0, Signal::kNo);
    Finish();
    std::fill(local.begin(), local.end(), std::byte{0});
    endpoint_.Read(kTarget, region_, 0, local, 0, Signal::kNo);
    Finish();
    bool same = true;
    for (std::size_t i = 0; i < bytes; ++i) same = same && local[i] == pattern(i);
    Expect(same, operation, bytes);
  }

  // Each atomic operation must find the value that the one before left.
  void VerifyAtomics(const std::string& operation) {
    std::uint64_t found[5] = {};
    endpoint_.FetchAdd(kTarget, region_, 0, 5, &found[0], 0, Signal::kNo);
    Finish();
    endpoint_.FetchAdd(kTarget, region_, 0, 1, &found[1], 0, Signal::kNo);
    Finish();
    endpoint_.CompareSwap(kTarget, region_, 0, found[0] + 6, 7, &found[2], 0, Signal::kNo);
    Finish();
    endpoint_.CompareSwap(kTarget, region_, 0, found[0] + 8, 9, &found[3], 0, Signal::kNo);
    Finish();
    endpoint_.FetchAdd(kTarget, region_, 0, 0, &found[4], 0, Signal::kNo);
    Finish();
    const bool right =
        found[1] == found[0] + 5 && found[2] == found[0] + 6 && found[3] == 7 && found[4] == 7;
    Expect(right, operation, kAtomicBytes);
  }

  void Verify(const std::string& operation, std::uint64_t bytes) {
    const bool transfers = operation == "read" || operation == "write";
    transfers ? VerifyTransfer(operation, bytes) : VerifyAtomics(operation);
  }

  FabricBenchRow OneSided(const std::string& operation, std::uint64_t bytes) {
    const std::size_t batch = std::clamp<std::size_t>(kBatchBytes / bytes, 1, kBatchOperations);
    FabricBenchRow row{.operation = operation, .bytes = bytes};
    Verify(operation, bytes);
    row.latency_us = 1e6 * MedianTime(options_.seconds_per_row, [&] {
                       Collect(operation, bytes, 0);
                       Finish();
                     });
    const double batch_s = MedianTime(options_.seconds_per_row, [&] {
      for (std::size_t i = 0; i < batch; ++i) Collect(operation, bytes, i * bytes);
      Finish();
    });
    row.operations_per_s = static_cast<double>(batch) / batch_s;
    return row;
  }

  void Collect(const std::string& operation, std::uint64_t bytes, std::uint64_t at) {
    const std::uint64_t offset = at % (options_.region_bytes - bytes + 1) / 8 * 8;
    const MutableBytes local(buffer_.data() + at, bytes);
    if (operation == "read") {
      endpoint_.Read(kTarget, region_, offset, local, 0, Signal::kNo);
    } else if (operation == "write") {
      endpoint_.Write(kTarget, region_, offset, local, 0, Signal::kNo);
    } else if (operation == "fetch-and-add") {
      endpoint_.FetchAdd(kTarget, region_, offset, 1, &old_value_, 0, Signal::kNo);
    } else {
      endpoint_.CompareSwap(kTarget, region_, offset, 0, 0, &old_value_, 0, Signal::kNo);
    }
  }

  void Finish() {
    const Outcome outcome = endpoint_.Flush();
    if (failure_ == Outcome::kOk) failure_ = outcome;
  }

  FabricBenchRow RoundTrip(std::uint64_t bytes) {
    FabricBenchRow row{.operation = "message there and back", .bytes = bytes};
    const Bytes body(buffer_.data(), bytes);
    const auto once = [&] {
      const std::uint64_t before = pongs_;
      endpoint_.Send({kTarget, 0}, kPing, body);
      if (!endpoint_.WaitUntil([&] { return pongs_ > before; }, 10s)) {
        failure_ = Outcome::kPeerLost;
      }
    };
    for (std::size_t i = 0; i < bytes; ++i) buffer_[i] = static_cast<std::byte>(i * 31 + bytes);
    keeps_body_ = true;
    once();
    keeps_body_ = false;
    Expect(std::equal(body.begin(), body.end(), body_back_.begin(), body_back_.end()),
           row.operation, bytes);
    row.latency_us = 1e6 * MedianTime(options_.seconds_per_row, once);
    return row;
  }

  Endpoint& endpoint_;
  const RegionId region_;
  const FabricBenchOptions& options_;
  std::vector<std::byte> buffer_;
  std::uint64_t old_value_ = 0;
  std::uint64_t pongs_ = 0;
  bool keeps_body_ = false;
  std::vector<std::byte> body_back_;
  std::string wrong_;  // the first row that failed its check; "": none
  Outcome failure_ = Outcome::kOk;
  HandlerRegistration pong_;
};

std::string NatureOf(std::string_view transport) {
  if (transport == "shm") return "one-sided: the target does nothing";
  if (transport == "verbs") return "one-sided: the target's adapter carries out requests";
  if (transport == "mpi") return "active-message RMA: a thread of the target carries out requests";
  return "active messages: a thread of the target carries out requests";
}

// Answers until node 0 is done.
void Serve(Job& job, Fabric& fabric, const bool& done) {
  const auto over = [&] { return done || !job.alive(0); };
  while (!fabric.endpoint(0).WaitUntil(over, 1s)) {
  }
}

}  // namespace

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Result<FabricBenchReport> RunFabricBench(Job& job, Fabric& fabric,
                                         const FabricBenchOptions& options) {
  if (job.nodes() < 2) return UsageError("bench fabric needs at least 2 nodes: --nodes 2");
  if (options.max_bytes > options.region_bytes || options.region_bytes < (2 << 20)) {
    return UsageError("bench fabric needs a region of at least 2 MiB and of the largest operation");
  }
  bool done = false;
  const auto ping_handler =
      fabric.SetHandler(kPing, [](Endpoint& endpoint, const Message& message) {
        endpoint.Send(message.from, kPong, message.body);
      });
  const auto done_handler =
      fabric.SetHandler(kDone, [&done](Endpoint&, const Message&) { done = true; });
  SLIM_ASSIGN(const SharedRegion region, fabric.Share(options.region_bytes));
  std::fill(region.memory.begin(), region.memory.end(), std::byte{1});
  SLIM_TRY(job.Exchange(""));

  FabricBenchReport report;
  Endpoint& endpoint = fabric.endpoint(0);
  if (job.self() == 0) {
    report.transport = fabric.transport();
    report.nature = NatureOf(fabric.transport());
    FabricMeasurement measurement(fabric, region.id, options);
    SLIM_ASSIGN(report.rows, measurement.Run());
    report.posts_per_doorbell = measurement.PostsPerDoorbell();
    if (fabric.transport() == "shm") {
      report.bars.push_back(CompareLinesWithCopy(fabric, region.id));
      report.bars.push_back(CompareLargeReadsWithCopy(fabric, region.id));
    }
    for (NodeId node = 1; node < job.nodes(); ++node) endpoint.Send({node, 0}, kDone, {});
  } else {
    Serve(job, fabric, done);
  }
  if (fabric.transport() == "tcp") {
    SLIM_ASSIGN(const FabricBar bar, CompareReadsWithSocket(job, fabric, region.id));
    report.bars.push_back(bar);
  }
  SLIM_ASSIGN(const FabricBar parked, MeasureParkedNode(job, fabric, options.parked_s));
  report.bars.push_back(parked);
  if (job.self() != 0) return FabricBenchReport();
  return report;
}

std::string FormatFabricBench(const FabricBenchReport& report) {
  std::string text =
      fmt::format("{} ({})\n\n{:<24}{:>10}{:>14}{:>16}{:>14}\n", report.transport, report.nature,
                  "operation", "size", "latency us", "operations/s", "GB/s");
  for (const FabricBenchRow& row : report.rows) {
    text +=
        fmt::format("{:<24}{:>10}{:>14.2f}", row.operation, FormatBytes(row.bytes), row.latency_us);
    if (row.operations_per_s > 0) {
      text += fmt::format("{:>16.0f}{:>14.3f}", row.operations_per_s, row.bytes_per_s() * 1e-9);
    }
    text += '\n';
  }
  if (report.posts_per_doorbell) {
    text += fmt::format("\nthe adapter was rung {} time(s) for a doorbell of {} reads\n",
                        *report.posts_per_doorbell, kDoorbellReads);
  }
  text += '\n';
  for (const FabricBar& bar : report.bars) {
    text += fmt::format("{:<6} {}: {:.3g}, bar {} {:g}\n", bar.met() ? "met" : "MISSED", bar.claim,
                        bar.value, bar.at_most ? "at most" : "at least", bar.bound);
  }
  return text;
}

}  // namespace slimgraph
