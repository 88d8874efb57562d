#include "txnlayer/internal/engine/rpc.h"

#include <algorithm>
#include <cstring>

#include "slimgraph/base/check.h"
#include "txnlayer/internal/engine/range_reads.h"
#include "txnlayer/internal/execution/message_bytes.h"
#include "txnlayer/internal/stages/read_at.h"

namespace slimgraph::txn {
namespace {

struct RequestItem {
  Key key;
  std::uint64_t offset;
  Timestamp timestamp;
  Timestamp commit_timestamp;
  VersionLink kept_at;
  TableId table;
  std::uint8_t version : 6;
  std::uint8_t shared : 1;
  std::uint8_t generation : 1;
  std::uint8_t write : 1;
  std::uint8_t fetch : 1;
  std::uint8_t locked : 1;
  std::uint8_t has_record : 1;
  std::uint8_t write_later : 1;
  std::uint8_t absent : 1;
  std::uint8_t unlocked : 1;
  std::uint8_t only_tries : 1;
  Owner owner;
};

struct ReplyItem {
  std::uint64_t offset;
  Timestamp seen_timestamp;
  Step step;
  std::uint8_t version;
  std::uint8_t locked : 1;
  std::uint8_t has_record : 1;
  std::uint8_t absent : 1;
  std::uint8_t shared : 1;
  std::uint8_t generation : 1;
  std::uint32_t unused;
};

// How often the home checks a briefly locked tuple before it replies that the tuple is busy.
constexpr int kBusyChecksAtOnce = 4;

std::size_t MetadataBytes(const Access& access) {
  return access.table->shape().metadata_words * kWordBytes;
}

void AppendState(const Access& access, bool record, std::vector<std::byte>& out) {
  const auto* const words = reinterpret_cast<const std::byte*>(access.seen);
  out.insert(out.end(), words, words + MetadataBytes(access));
  if (!record) return;
  out.insert(out.end(), access.version_bytes(),
             access.version_bytes() + access.table->version_bytes());
}

void TakeState(Bytes& in, bool record, Access& access) {
  const std::size_t words = MetadataBytes(access);
  const std::size_t bytes = words + (record ? access.table->version_bytes() : 0);
  SLIM_CHECK(in.size() >= bytes, "a broken message between transactions");
  std::memcpy(access.seen, in.data(), words);
  if (record) {
    std::memcpy(access.version_bytes(), in.data() + words, bytes - words);
    access.has_image = true;
  }
  in = in.subspan(bytes);
}

void AppendReply(std::uint16_t what, const Access& access, Step step, std::vector<std::byte>& out) {
  const bool record = step.kind == Step::kDone && access.has_image &&
                      what != static_cast<std::uint16_t>(Stage::kCommit);
  Append(out, ReplyItem{.offset = access.offset,
                        .seen_timestamp = access.seen_timestamp,
                        .step = step,
                        .version = access.version,
                        .locked = access.locked,
                        .has_record = record,
                        .absent = access.absent,
                        .shared = access.shared,
                        .generation = static_cast<std::uint8_t>(access.generation & 1),
                        .unused = 0});
  AppendState(access, record, out);
}

}  // namespace

bool CarriesRecord(std::uint16_t what, const Access& access) {
  return what == static_cast<std::uint16_t>(Stage::kCommit) && access.write;
}

std::size_t ItemBytes(std::uint16_t, const Access& access) {
  return std::max(sizeof(RequestItem), sizeof(ReplyItem)) + MetadataBytes(access) +
         access.table->version_bytes();
}

void AppendSeen(std::span<const Timestamp> sees, std::vector<std::byte>& request) {
  const auto bytes = std::as_bytes(sees);
  request.insert(request.end(), bytes.begin(), bytes.end());
}

void AppendRequest(std::uint16_t what, const Access& access, std::vector<std::byte>& request) {
  const bool record = CarriesRecord(what, access);
  Append(request, RequestItem{.key = access.key,
                              .offset = access.offset,
                              .timestamp = access.timestamp,
                              .commit_timestamp = access.commit_timestamp,
                              .kept_at = access.kept_at,
                              .table = access.table->id(),
                              .version = static_cast<std::uint8_t>(access.version & 0x3F),
                              .shared = access.shared,
                              .generation = static_cast<std::uint8_t>(access.generation & 1),
                              .write = access.write,
                              .fetch = access.fetch,
                              .locked = access.locked,
                              .has_record = record,
                              .write_later = access.write_later,
                              .absent = access.absent,
                              .unlocked = access.unlocked,
                              .only_tries = access.only_tries,
                              .owner = access.owner});
  AppendState(access, record, request);
}

Step TakeReply(Bytes& reply, Access& access) {
  const auto item = Take<ReplyItem>(reply);
  access.offset = item.offset;
  access.seen_timestamp = std::max(access.seen_timestamp, item.seen_timestamp);
  access.version = item.version;
  access.locked = item.locked;
  access.absent = item.absent;
  access.shared = item.shared;
  access.generation = item.generation;
  TakeState(reply, item.has_record, access);
  return item.step;
}

RpcServer::RpcServer(Engine& engine, Worker& worker) : engine_(engine), worker_(worker) {}

void RpcServer::Serve(const Message& message) {
  Bytes rest = message.body;
  const auto header = Take<CallHeader>(rest);
  if (header.what == kLogRequest || header.what == kReclaimRequest) {
    engine_.replication()->Serve(message);
    return Send({message.from, header.call, 0, {}, {}});
  }
  auto answer = std::make_shared<Answer>(Answer{message.from, header.call, 0, {}, {}});
  if (header.what == kReadRequest) {
    RangeReads::Serve(engine_.cluster().fabric(), header.items, rest, answer->items.emplace_back());
    return Send(*answer);
  }
  const bool reads_at = header.what == static_cast<std::uint16_t>(Stage::kReadAt);
  if (reads_at && engine_.protocol().shape().timestamps == Timestamps::kVector) {
    answer->sees.resize(std::size_t{engine_.tables().view().nodes()} * engine_.cluster().threads());
    for (Timestamp& seen : answer->sees) seen = Take<Timestamp>(rest);
  }
  answer->items.resize(header.items);
  for (std::size_t i = 0; i < header.items; ++i) {
    const auto item = Take<RequestItem>(rest);
    Access access;
    access.table = &engine_.tables()[item.table];
    access.key = item.key;
    access.home = engine_.self();
    access.rank = engine_.tables().view().RankAt(access.home, access.table->Home(access.key));
    access.offset = item.offset;
    access.timestamp = item.timestamp;
    access.owner = item.owner;
    access.commit_timestamp = item.commit_timestamp;
    access.kept_at = item.kept_at;
    if (!answer->sees.empty()) access.sees = answer->sees.data();
    access.version = item.version;
    access.shared = item.shared;
    access.generation = item.generation;
    access.write = item.write;
    access.fetch = item.fetch;
    access.locked = item.locked;
    access.write_later = item.write_later;
    access.absent = item.absent;
    access.unlocked = item.unlocked;
    access.only_tries = item.only_tries;
    image_.resize(kImageRoom + access.table->image_bytes());
    access.image = image_.data() + kImageRoom;
    TakeState(rest, item.has_record, access);
    const Step step = Carry(header.what, access);
    if (step.kind == Step::kWait) {
      Waiting waiting{access, image_, header.what, answer, i};
      ++answer->left;
      waiting_.emplace(access.timestamp, std::move(waiting));
    } else {
      AppendReply(header.what, access, step, answer->items[i]);
    }
  }
  if (answer->left == 0) Send(*answer);
  if (!waiting_.empty()) TryWaiting(false);
}

Step RpcServer::Carry(std::uint16_t what, Access& access) {
  const Protocol& protocol = engine_.protocol();
  const bool reads_at = what == static_cast<std::uint16_t>(Stage::kReadAt);
  if (reads_at && !protocol.commits_at_timestamp()) return ReadAt(protocol, access);
  if (reads_at) {
    kept_.resize(OldVersions::KeptBytes(access.table->image_bytes()));
    access.kept.bytes = kept_.data();
  }
  if (access.offset == 0) {
    if (!access.Find(what < kNumStages && protocol.absence_suffices())) {
      access.FindOrInsert();
    }
  }
  if (access.offset == 0) return Step::Abort(AbortReason::kTableFull);
  if (what >= kNumStages) return Step::Done();
  const auto stage = static_cast<Stage>(what);
  Port here;
  for (int checks = 0;;) {
    protocol.Post(stage, here, access);
    const Step step = protocol.Check(stage, access);
    if (step.kind == Step::kMore) continue;
    if (step.kind != Step::kBusy || ++checks == kBusyChecksAtOnce) return step;
  }
}

bool RpcServer::TryWaiting(bool refuse) {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    Waiting& waiting = at->second;
    waiting.access.image = waiting.image.data() + kImageRoom;
    const Step step =
        refuse ? Step::Abort(AbortReason::kNodeLost) : Carry(waiting.what, waiting.access);
    if (step.kind == Step::kWait) {
      ++at;
      continue;
    }
    Answer& answer = *waiting.answer;
    AppendReply(waiting.what, waiting.access, step, answer.items[waiting.item]);
    if (--answer.left == 0) Send(answer);
    at = waiting_.erase(at);
  }
  return !waiting_.empty();
}

void RpcServer::Send(const Answer& answer) {
  if (answer.call == CallHeader::kNoReply) return;
  std::vector<std::byte> reply;
  Append(reply, CallHeader{.call = answer.call});
  for (const auto& item : answer.items) reply.insert(reply.end(), item.begin(), item.end());
  worker_.endpoint().Send(answer.to, kReplyHandler, reply);
}

}  // namespace slimgraph::txn
