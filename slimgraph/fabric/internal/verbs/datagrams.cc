#include "slimgraph/fabric/internal/verbs/datagrams.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "slimgraph/base/random.h"

namespace slimgraph {

namespace {

constexpr std::uint32_t kBuffers = 512;
constexpr std::uint32_t kMostDatagrams = 256;
// The device puts a routing header in front of each datagram.
constexpr std::uint32_t kRouteBytes = 40;
constexpr std::uint32_t kBufferBytes = VerbsDatagrams::kMaxBytes + 64;

}  // namespace

Result<std::unique_ptr<VerbsDatagrams>> VerbsDatagrams::Make(const VerbsDevice& device,
                                                             ibv_comp_channel* events) {
  std::unique_ptr<VerbsDatagrams> made(new VerbsDatagrams());
  made->device_ = &device;
  const auto most = static_cast<std::uint32_t>(device.limits().max_qp_wr);
  made->num_buffers_ = std::min(kBuffers, most);
  made->depth_ = std::min(kMostDatagrams, most);
  const std::uint64_t bytes = std::uint64_t{made->num_buffers_} * kBufferBytes;
  SLIM_ASSIGN(made->memory_, VerbsRing::Make(device, bytes + made->depth_ * kCopiedBytes));
  made->buffers_ = made->memory_->Take(bytes);
  made->copies_ = made->memory_->Take(std::uint64_t{made->depth_} * kCopiedBytes);
  made->sends_.reset(
      ::ibv_create_cq(device.context(), static_cast<int>(made->depth_), nullptr, nullptr, 0));
  made->arrivals_.reset(
      ::ibv_create_cq(device.context(), static_cast<int>(made->num_buffers_), nullptr, events, 0));
  if (!made->sends_ || !made->arrivals_) {
    return EnvironmentError("cannot make a completion queue: {}", std::strerror(errno));
  }
  SLIM_TRY(made->MakePair());
  for (std::uint32_t i = 0; i < made->num_buffers_; ++i) {
    if (const int reason = made->PostBuffer(i); reason != 0) {
      return device.Failure("post a buffer for datagrams", reason);
    }
  }
  return made;
}

Status VerbsDatagrams::MakePair() {
  const VerbsPort& port = device_->port();
  ibv_qp_init_attr shape{};
  shape.qp_type = IBV_QPT_UD;
  shape.send_cq = sends_.get();
  shape.recv_cq = arrivals_.get();
  shape.cap = {.max_send_wr = depth_,
               .max_recv_wr = num_buffers_,
               .max_send_sge = 1,
               .max_recv_sge = 1,
               .max_inline_data = 0};
  queue_pair_.reset(::ibv_create_qp(device_->domain(), &shape));
  if (!queue_pair_) return device_->Failure("make a datagram queue pair", errno);
  std::memcpy(address_.gid.data(), port.gid.raw, address_.gid.size());
  address_.queue_pair = queue_pair_->qp_num;
  SLIM_TRY(FillWithRandom(std::as_writable_bytes(std::span(&address_.key, 1))));
  address_.key &= 0x7FFF'FFFF;  // keys with the first bit set are special
  address_.lid = port.lid;
  address_.datagram_bytes =
      static_cast<std::uint16_t>(std::min<unsigned>(128U << port.mtu, kMaxBytes));
  if (const int failed = Start(); failed != 0) {
    return device_->Failure("start a datagram queue pair", failed);
  }
  return {};
}

// Brings a queue pair that is new or was reset into service. Returns 0 or an error number.
int VerbsDatagrams::Start() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_->port().number;
  attributes.qkey = address_.key;
  int failed = ::ibv_modify_qp(queue_pair_.get(), &attributes,
                               IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  attributes.qp_state = IBV_QPS_RTR;
  if (failed == 0) failed = ::ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE);
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = 0;
  if (failed == 0) {
    failed = ::ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
  }
  return failed;
}

// Resets the queue pair. Datagrams that have arrived are kept, those in flight are lost, and both
// queues are empty afterwards.
bool VerbsDatagrams::Restart() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  if (::ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE) != 0 || Start() != 0) {
    return false;
  }
  Reap();
  sent_ = posted_;
  while (Fetch() > 0) {
  }
  broken_ = false;  // Reap() and Fetch() have set it for flushed requests
  std::erase_if(arrived_, [](const ibv_wc& one) { return one.status != IBV_WC_SUCCESS; });
  std::vector<bool> full(num_buffers_);
  for (const ibv_wc& one : arrived_) full[one.wr_id] = true;
  for (std::uint32_t i = 0; i < num_buffers_; ++i) {
    if (!full[i]) PostBuffer(i);
  }
  return true;
}

VerbsRoute VerbsDatagrams::RouteTo(const VerbsMailAddress& peer) const {
  const VerbsPort& port = device_->port();
  ibv_ah_attr attributes{};
  attributes.dlid = peer.lid;
  attributes.port_num = port.number;
  attributes.is_global = port.lid == 0 ? 1 : 0;
  std::memcpy(attributes.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  attributes.grh.sgid_index = port.gid_index;
  attributes.grh.hop_limit = 64;
  return VerbsRoute(::ibv_create_ah(device_->domain(), &attributes));
}

std::uint64_t VerbsDatagrams::Send(ibv_ah* route, const VerbsMailAddress& to, Bytes bytes,
                                   std::uint32_t key) {
  if (broken_ || (posted_ - sent_ == depth_ && posted_ - sent() == depth_)) return 0;
  if (key == 0) {
    std::byte* const copy = copies_ + posted_ % depth_ * kCopiedBytes;
    std::memcpy(copy, bytes.data(), bytes.size());
    bytes = {copy, bytes.size()};
    key = memory_->key();
  }
  ibv_sge piece{.addr = reinterpret_cast<std::uintptr_t>(bytes.data()),
                .length = static_cast<std::uint32_t>(bytes.size()),
                .lkey = key};
  ibv_send_wr request{};
  request.wr_id = posted_ + 1;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud = {.ah = route, .remote_qpn = to.queue_pair, .remote_qkey = to.key};
  ibv_send_wr* refused = nullptr;
  if (::ibv_post_send(queue_pair_.get(), &request, &refused) != 0) return 0;
  return ++posted_;
}

std::uint64_t VerbsDatagrams::sent() {
  Reap();
  return sent_;
}

void VerbsDatagrams::Reap() {
  std::array<ibv_wc, 16> ended;
  int count = 0;
  while (sent_ < posted_ && (count = ::ibv_poll_cq(sends_.get(), ended.size(), ended.data())) > 0) {
    sent_ += static_cast<std::uint64_t>(count);
    for (int i = 0; i < count; ++i) broken_ = broken_ || ended[i].status != IBV_WC_SUCCESS;
  }
}

int VerbsDatagrams::PostBuffer(std::uint64_t index) {
  ibv_sge buffer{.addr = reinterpret_cast<std::uintptr_t>(buffers_ + index * kBufferBytes),
                 .length = kBufferBytes,
                 .lkey = memory_->key()};
  ibv_recv_wr request{.wr_id = index, .next = nullptr, .sg_list = &buffer, .num_sge = 1};
  ibv_recv_wr* refused = nullptr;
  const int reason = ::ibv_post_recv(queue_pair_.get(), &request, &refused);
  broken_ = broken_ || reason != 0;
  return reason;
}

// Returns how many completions were found.
int VerbsDatagrams::Fetch() {
  std::array<ibv_wc, 32> some;
  const int count = ::ibv_poll_cq(arrivals_.get(), some.size(), some.data());
  for (int i = 0; i < count; ++i) {
    arrived_.push_back(some[i]);
    broken_ = broken_ || some[i].status != IBV_WC_SUCCESS;
  }
  return count;
}

bool VerbsDatagrams::Arm() {
  ::ibv_req_notify_cq(arrivals_.get(), 0);
  Fetch();
  return !arrived_.empty();
}

void VerbsDatagrams::Receive(const Take& take) {
  Fetch();
  if (broken_ && !Restart()) return;
  for (const ibv_wc& one : std::exchange(arrived_, {})) {
    if (one.byte_len >= kRouteBytes) {
      take({buffers_ + one.wr_id * kBufferBytes + kRouteBytes, one.byte_len - kRouteBytes},
           one.src_qp);
    }
    PostBuffer(one.wr_id);
  }
}

}  // namespace slimgraph
