#include "tests/txnlayer/support.h"

#include <cstdlib>
#include <iostream>

#include "tests/support/node_processes.h"
#include "tests/support/rdma_devices.h"

namespace slimgraph::test {

std::uint64_t TestSeed() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("SLIMGRAPH_TEST_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "SLIMGRAPH_TEST_SEED=" << chosen << std::endl;
    return chosen;
  }();
  return seed;
}

std::string NameOf(const TxnSetting& s) {
  return fmt::format("{} {} {} on {} nodes, {} computing, {} x {}, {}, delay {} us, without '{}'",
                     s.workload, s.protocol, s.stages, s.nodes, s.compute, s.threads, s.coroutines,
                     s.transport, s.delay_us, s.without);
}

std::string RandomStages(const std::string& protocol, std::mt19937_64& random) {
  std::string code;
  const auto made = txn::MakeProtocol(protocol);
  for (std::size_t i = 0; i < (*made)->stages().size(); ++i) code += random() % 2 == 0 ? '0' : '1';
  return code;
}

bool IsStrict(const std::string& protocol) { return protocol != "mvcc" && protocol != "sundial"; }

void OnTxnJob(const TxnSetting& setting, const std::function<void(Cluster&)>& body) {
  SCOPED_TRACE(NameOf(setting));
  ExpectNodesRun(setting.nodes, [&](Job& job) {
    ChooseRdmaDevice(job.self());
    auto cluster = Cluster::Start(job, {.compute = setting.compute,
                                        .threads = setting.threads,
                                        .transport = setting.transport,
                                        .network = setting.network});
    ASSERT_TRUE(cluster) << cluster.error().message;
    body(**cluster);
    if (::testing::Test::HasFatalFailure()) return;
    const Status stopped = (*cluster)->Stop();
    EXPECT_TRUE(stopped) << stopped.error().message;
  });
}

void DriveSetting(Cluster& cluster, const TxnSetting& setting, const txn::Protocol& protocol,
                  const Look& look) {
  txn::EngineOptions options;
  options.coroutines = setting.coroutines;
  const auto code = txn::StageCode::Parse(setting.stages, protocol.name(), protocol.stages());
  ASSERT_TRUE(code) << code.error().message;
  options.stages = *code;
  ASSERT_TRUE(txn::SwitchOff(setting.without, options));
  auto engine = txn::Engine::Make(cluster, protocol, options);
  ASSERT_TRUE(engine) << engine.error().message;
  auto workload = txn::MakeWorkload(setting.workload, setting.work);
  ASSERT_TRUE(workload) << workload.error().message;
  const Status loaded = (*workload)->Load(**engine);
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (NodeId node = 0; setting.delay_us > 0 && node < setting.nodes; ++node) {
    for (std::uint32_t thread = 0; thread < setting.threads; ++thread) {
      // Not the same for all, so that what left first may come last.
      const auto delay = std::chrono::microseconds(setting.delay_us * (1 + (node + thread) % 3));
      cluster.fabric().endpoint(thread).faults().Delay(node, delay);
    }
  }
  const auto result =
      txn::Drive(**engine, **workload, {.seconds = 20, .transactions = setting.transactions});
  ASSERT_TRUE(result) << result.error().message;
  if (look) look(**engine, **workload, *result);
}

void RunSetting(const TxnSetting& setting, const Look& look) {
  const auto protocol = txn::MakeProtocol(setting.protocol);
  ASSERT_TRUE(protocol) << protocol.error().message;
  OnTxnJob(setting, [&](Cluster& cluster) { DriveSetting(cluster, setting, **protocol, look); });
}

}  // namespace slimgraph::test
