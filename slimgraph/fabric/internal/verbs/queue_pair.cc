#include "slimgraph/fabric/internal/verbs/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "slimgraph/base/clock.h"

namespace slimgraph {
namespace {

// Every entry of a queue has room for inline data. With more than this, a thousand queue pairs of a
// thousand entries would use gigabytes.
constexpr std::array<std::uint32_t, 4> kInlineBytes = {256, 128, 64, 0};

// A packet is sent again after 4.096 us · 2^16 = 0.27 s, up to 6 times. So a peer that does not
// answer at all is given up after 1.9 s. Job::alive() knows of a dead process long before.
// (Soft-RoCE takes 7 to mean infinitely often.)
constexpr std::uint8_t kTimeout = 16;
constexpr std::uint8_t kRetries = 6;
constexpr std::uint8_t kReadsAtOnce = 16;

}  // namespace

Result<VerbsQueuePair> VerbsQueuePair::Make(const VerbsDevice& device, const Shape& shape) {
  VerbsQueuePair made;
  made.device_ = &device;
  for (const std::uint32_t inline_bytes : kInlineBytes) {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = shape.completions;
    attributes.recv_cq = shape.completions;
    attributes.cap = {.max_send_wr = shape.depth,
                      .max_recv_wr = 0,
                      .max_send_sge = 1,
                      .max_recv_sge = 1,
                      .max_inline_data = inline_bytes};
    made.queue_pair_.reset(::ibv_create_qp(device.domain(), &attributes));
    made.inline_bytes_ = attributes.cap.max_inline_data;
    if (made.queue_pair_) break;
  }
  if (!made.queue_pair_) return device.Failure("make a queue pair", errno);
  made.first_packet_ = static_cast<std::uint32_t>(NowNs() >> 8) & 0xFF'FFFF;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device.port().number;
  attributes.qp_access_flags =
      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  const int failed =
      ::ibv_modify_qp(made.get(), &attributes,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (failed != 0) return device.Failure("set up a queue pair", failed);
  return made;
}

VerbsAddress VerbsQueuePair::address() const {
  const VerbsPort& port = device_->port();
  VerbsAddress address;
  std::memcpy(address.gid.data(), port.gid.raw, address.gid.size());
  address.queue_pair = get()->qp_num;
  address.first_packet = first_packet_;
  address.lid = port.lid;
  address.mtu = static_cast<std::uint8_t>(port.mtu);
  address.reads_at_once =
      static_cast<std::uint8_t>(std::min<int>(kReadsAtOnce, device_->limits().max_qp_rd_atom));
  return address;
}

Status VerbsQueuePair::Connect(const VerbsAddress& peer) {
  const VerbsPort& port = device_->port();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = std::min(port.mtu, static_cast<ibv_mtu>(peer.mtu));
  attributes.dest_qp_num = peer.queue_pair;
  attributes.rq_psn = peer.first_packet;
  attributes.max_dest_rd_atomic = address().reads_at_once;
  // Unused: no node receives messages on these queue pairs, so none is ever "receiver not ready".
  attributes.min_rnr_timer = 1;
  attributes.ah_attr.dlid = peer.lid;
  attributes.ah_attr.port_num = port.number;
  attributes.ah_attr.is_global = port.lid == 0 ? 1 : 0;
  std::memcpy(attributes.ah_attr.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  attributes.ah_attr.grh.sgid_index = port.gid_index;
  attributes.ah_attr.grh.hop_limit = 64;
  int failed =
      ::ibv_modify_qp(get(), &attributes,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (failed != 0) return device_->Failure("connect a queue pair", failed);
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  attributes.timeout = kTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = 0;
  attributes.max_rd_atomic = static_cast<std::uint8_t>(
      std::min<int>(peer.reads_at_once, device_->limits().max_qp_init_rd_atom));
  failed = ::ibv_modify_qp(get(), &attributes,
                           IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                               IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
  if (failed != 0) return device_->Failure("start a queue pair", failed);
  return {};
}

}  // namespace slimgraph
