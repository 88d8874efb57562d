// Sends the active vertices of the share, with their values, to the nodes whose lists contain them,
// and receives those of other nodes.
#pragma once

#include <bit>

#include "dgemini/exchange.h"
#include "dgemini/frontier.h"
#include "dgemini/internal/out_boxes.h"
#include "dgemini/step.h"
#include "dgemini/workload.h"
#include "slimgraph/base/interleave.h"

namespace slimgraph::dgemini {

class Mirror {
 public:
  Mirror(const Workload& work, Exchange& exchange, OutBoxes& boxes)
      : work_(work), exchange_(exchange), boxes_(boxes) {}

  // The form of a message: whether it names vertices by words of a bitmap or by ids, and whether
  // values are in their short form. Callers may use the bits from kFirstFreeBit on.
  enum Form : std::uint32_t { kAsWords = 0, kAsVertices = 1, kShort = 2, kFirstFreeBit = 4 };

  // Collective over compute nodes. Adds other nodes' active vertices to the frontier's bitmap.
  template <Mirrors Step>
  Status SendAndReceive(Frontier& in, Step& step, Direction direction);
  // The same for out lists, without values.
  Status SendAndReceive(Frontier& in) {
    NoValues none;
    return SendAndReceive(in, none, Direction::kOut);
  }

  // The parts of it. Sends what the lists of `reader` on node `peer` contain.
  template <typename Step>
  Status SendTo(NodeId peer, Workload::Reader reader, std::uint32_t free_bits, const Frontier& in,
                Step& step, Direction direction);
  // Sends vertices of a segment without values: bits_of(word) is a word of a bitmap of all
  // vertices.
  template <typename BitsOf>
  Status SendBits(NodeId peer, std::uint32_t free_bits, const Workload::Segment& segment,
                  BitsOf bits_of) {
    NoValues none;
    return SendWords<Nothing>(peer, free_bits, segment, bits_of, none);
  }
  // `Step` needs Mirror() only.
  template <typename Step>
  static void TakeMessage(Bytes bytes, Frontier& in, Step& step);
  static void TakeBits(Bytes bytes, Frontier& in) {
    NoValues none;
    TakeWords<Nothing>(bytes, sizeof(std::uint32_t), in, none);
  }

 private:
  struct NoValues {
    using Value = Nothing;
    Nothing Signal(VertexId) { return {}; }
    void Mirror(VertexId, Nothing) {}
  };
  // `Sent` is the type of the values in messages: the step's Value or its Short.
  static constexpr std::uint64_t kBytesPerNs = 4;  // in simulations
  template <typename Sent, typename BitsIn, typename Step>
  Status SendForm(NodeId peer, std::uint32_t form, BitsIn bits_in, Step& step);
  template <typename Sent, typename BitsOf, typename Step>
  Status SendWords(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                   BitsOf bits_of, Step& step);
  template <typename Sent, typename BitsOf, typename Step>
  Status SendVertices(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                      BitsOf bits_of, Step& step);
  template <typename Sent, typename Step>
  static void TakeForm(std::uint32_t form, Bytes bytes, std::size_t at, Frontier& in, Step& step) {
    (form & kAsVertices) == 0 ? TakeWords<Sent>(bytes, at, in, step)
                              : TakeVertices<Sent>(bytes, at, in, step);
  }
  template <typename Sent, typename Step>
  static void TakeWords(Bytes bytes, std::size_t at, Frontier& in, Step& step);
  template <typename Sent, typename Step>
  static void TakeVertices(Bytes bytes, std::size_t at, Frontier& in, Step& step);

  static void Open(OutBoxes::Box& box, std::uint32_t form) {
    box.Open();
    box.Put(form);
  }

  const Workload& work_;
  Exchange& exchange_;
  OutBoxes& boxes_;
};

template <Mirrors Step>
Status Mirror::SendAndReceive(Frontier& in, Step& step, Direction direction) {
  in.SetHasRemoteBits();
  exchange_.Begin([&](NodeId, Bytes bytes) { TakeMessage(bytes, in, step); });
  for (NodeId i = 0; i < exchange_.peers(); ++i) {
    const NodeId peer = exchange_.peer(i);
    SLIM_TRY(SendTo(peer, peer, 0, in, step, direction));
  }
  return exchange_.End();
}

template <typename Step>
void Mirror::TakeMessage(Bytes bytes, Frontier& in, Step& step) {
  std::size_t at = 0;
  SimulateWork(bytes.size() / kBytesPerNs);
  const auto form = Take<std::uint32_t>(bytes, at);
  if constexpr (HasShortForm<Step>) {
    if ((form & kShort) != 0) return TakeForm<typename Step::Short>(form, bytes, at, in, step);
  }
  TakeForm<typename Step::Value>(form, bytes, at, in, step);
}

template <typename Sent, typename Step>
void Mirror::TakeWords(Bytes bytes, std::size_t at, Frontier& in, Step& step) {
  using Value = typename Step::Value;
  while (at < bytes.size()) {
    const auto first = Take<std::uint32_t>(bytes, at);
    const auto count = Take<std::uint32_t>(bytes, at);
    std::size_t at_value = at + count * sizeof(std::uint64_t);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto bits = Take<std::uint64_t>(bytes, at);
      in.AddWord(first + i, bits);
      if constexpr (std::is_empty_v<Sent>) continue;
      for (; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
        step.Mirror((first + i) * 64 + bit, Value(Take<Sent>(bytes, at_value)));
      }
    }
    at = std::is_empty_v<Sent> ? at : at_value;
  }
}

template <typename Sent, typename Step>
void Mirror::TakeVertices(Bytes bytes, std::size_t at, Frontier& in, Step& step) {
  using Value = typename Step::Value;
  while (at < bytes.size()) {
    const auto v = Take<VertexId>(bytes, at);
    in.AddWord(v / 64, std::uint64_t{1} << (v % 64));
    if constexpr (!std::is_empty_v<Sent>) step.Mirror(v, Value(Take<Sent>(bytes, at)));
  }
}

// Picks the form that takes fewer bytes. Sends values as Step::Short if that loses nothing of any
// value. If two segments of the share have a word in common, each sends its own bits of it.
template <typename Step>
Status Mirror::SendTo(NodeId peer, Workload::Reader reader, std::uint32_t free_bits,
                      const Frontier& in, Step& step, Direction direction) {
  const auto bits_in = [&](const Workload::Segment& segment) {
    return [&in, first = segment.first_word(),
            needed = work_.needed_by(reader, direction, segment)](std::size_t word) {
      return in.word(word) & needed[word - first];
    };
  };
  std::uint64_t word_bytes = 0;
  std::uint64_t vertex_bytes = 0;
  bool all_short = true;
  for (const Workload::Segment& segment : work_.segments()) {
    const auto bits_of = bits_in(segment);
    bool runs = false;
    for (std::size_t word = segment.first_word(); word < segment.words_end(); ++word) {
      const std::uint64_t bits = bits_of(word);
      word_bytes += bits == 0 ? 0 : sizeof(bits) + (runs ? 0 : 2 * sizeof(std::uint32_t));
      vertex_bytes += sizeof(VertexId) * static_cast<std::uint64_t>(std::popcount(bits));
      runs = bits != 0;
      if constexpr (HasShortForm<Step>) {
        for (std::uint64_t rest = all_short ? bits : 0; rest != 0; rest &= rest - 1) {
          const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
          const auto value = step.Signal(static_cast<VertexId>(word * 64 + bit));
          all_short = all_short && typename Step::Value(typename Step::Short(value)) == value;
        }
      }
    }
  }
  SimulateWork(vertex_bytes / kBytesPerNs);
  const std::uint32_t form = free_bits | (word_bytes <= vertex_bytes ? kAsWords : kAsVertices);
  if constexpr (HasShortForm<Step>) {
    if (all_short) return SendForm<typename Step::Short>(peer, form | kShort, bits_in, step);
  }
  return SendForm<typename Step::Value>(peer, form, bits_in, step);
}

template <typename Sent, typename BitsIn, typename Step>
Status Mirror::SendForm(NodeId peer, std::uint32_t form, BitsIn bits_in, Step& step) {
  for (const Workload::Segment& segment : work_.segments()) {
    if (segment.count == 0) continue;
    const auto bits_of = bits_in(segment);
    SLIM_TRY((form & kAsVertices) == 0 ? SendWords<Sent>(peer, form, segment, bits_of, step)
                                       : SendVertices<Sent>(peer, form, segment, bits_of, step));
  }
  return boxes_.SendLast(peer);
}

// Sends runs of non-empty words: the first word's number, the number of words, their bits, then a
// value for each bit.
template <typename Sent, typename BitsOf, typename Step>
Status Mirror::SendWords(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                         BitsOf bits_of, Step& step) {
  constexpr std::size_t kMessageBytes = std::is_empty_v<Sent> ? 0 : sizeof(Sent);
  OutBoxes::Box& box = boxes_.box(peer);
  const std::size_t end = segment.words_end();
  for (std::size_t word = segment.first_word(); word < end;) {
    if (bits_of(word) == 0) {
      ++word;
      continue;
    }
    if (box.empty()) Open(box, form);
    std::size_t bytes = 2 * sizeof(std::uint32_t);
    std::size_t run = 0;
    while (word + run < end && bits_of(word + run) != 0) {
      const std::size_t more =
          sizeof(std::uint64_t) +
          kMessageBytes * static_cast<std::size_t>(std::popcount(bits_of(word + run)));
      if (!box.MakeRoom(bytes + more)) break;
      bytes += more;
      ++run;
    }
    if (run == 0) {
      SLIM_TRY(boxes_.Send(peer));
      continue;
    }
    box.Put(static_cast<std::uint32_t>(word));
    box.Put(static_cast<std::uint32_t>(run));
    for (std::size_t i = 0; i < run; ++i) box.Put(bits_of(word + i));
    if constexpr (kMessageBytes > 0) {
      for (std::size_t i = 0; i < run; ++i) {
        for (std::uint64_t bits = bits_of(word + i); bits != 0; bits &= bits - 1) {
          const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
          box.Put(Sent(step.Signal(static_cast<VertexId>((word + i) * 64 + bit))));
        }
      }
    }
    word += run;
  }
  return {};
}

// Sends each vertex with its value.
template <typename Sent, typename BitsOf, typename Step>
Status Mirror::SendVertices(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                            BitsOf bits_of, Step& step) {
  constexpr std::size_t kMessageBytes = std::is_empty_v<Sent> ? 0 : sizeof(Sent);
  OutBoxes::Box& box = boxes_.box(peer);
  for (std::size_t word = segment.first_word(); word < segment.words_end(); ++word) {
    for (std::uint64_t bits = bits_of(word); bits != 0; bits &= bits - 1) {
      const auto v =
          static_cast<VertexId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (!box.MakeRoom(sizeof(VertexId) + kMessageBytes)) SLIM_TRY(boxes_.Send(peer));
      if (box.empty()) Open(box, form);
      box.Put(v);
      if constexpr (kMessageBytes > 0) box.Put(Sent(step.Signal(v)));
    }
  }
  return {};
}

}  // namespace slimgraph::dgemini
