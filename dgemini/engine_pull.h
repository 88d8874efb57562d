// The engine's pull step. Included by engine.h.
#pragma once

#include "dgemini/engine.h"

namespace slimgraph {

template <typename Step>
Status Engine::PullStep(Frontier& in, Step& step, Frontier& out) {
  const Direction direction = work_.in();
  Mark(in);
  if (exchange_.peers() > 0) SLIM_TRY(Broadcast(in, step, direction));
  struct alignas(kCacheLineBytes) Tally {
    Frontier::Size size;
  };
  std::vector<Tally> tallies(threads());
  SLIM_TRY(loop_.Dense(
      direction, [&](VertexId v) { return step.Wants(v); },
      [&](std::uint32_t t, VertexId v, const Neighbours& list) {
        const bool found = step.Pull(v, list) && !Defers(step, t, v);
        if (found) tallies[t].size.edges += direction == Direction::kOut ? list.ids.size() : 0;
        return found;
      },
      [&](std::uint32_t t, std::size_t word, std::uint64_t bits) {
        out.AddWord(word, bits);
        tallies[t].size.vertices += static_cast<std::uint64_t>(std::popcount(bits));
        if (direction == Direction::kOut) return;
        for (; bits != 0; bits &= bits - 1) {
          const std::size_t v = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
          tallies[t].size.edges += work_.Degree(static_cast<VertexId>(v));
        }
      }));
  out.SetListed(false);
  std::array<std::uint64_t, 2> sums{};
  for (const Tally& tally : tallies) {
    sums[0] += tally.size.vertices;
    sums[1] += tally.size.edges;
  }
  SLIM_TRY(exchange_.Reduce(std::span(sums)));
  out.SetActive({sums[0], sums[1]});
  return {};
}

template <typename Step>
Status Engine::Collect(Frontier& from, const VertexLists& at, Step& step) {
  constexpr std::size_t kMany = 64;
  if (exchange_.peers() > 0 || from.list().size() > vertices() / kMany) Mark(from);
  if (exchange_.peers() > 0) SLIM_TRY(Broadcast(from, step, Direction::kOut));
  return loop_.Sparse(
      Direction::kOut, at,
      [&](std::uint32_t, VertexId v, const Neighbours& list) { step.Pull(v, list); },
      [](std::uint32_t) { return std::span<const VertexId>(); });
}

// The others' bits join the frontier's bitmap.
template <typename Step>
Status Engine::Broadcast(Frontier& in, Step& step, Direction direction) {
  in.SetMixed();
  exchange_.Begin([&](NodeId, Bytes bytes) {
    std::size_t at = 0;
    const auto form = Take<std::uint32_t>(bytes, at);
    if constexpr (kShortens<Step>) {
      if ((form & kShort) != 0) return TakeForm<typename Step::Short>(form, bytes, at, in, step);
    }
    TakeForm<typename Step::Value>(form, bytes, at, in, step);
  });
  for (NodeId i = 0; i < exchange_.peers(); ++i) {
    SLIM_TRY(SendMirrored(exchange_.peer(i), in, step, direction));
  }
  return exchange_.End(std::span<std::uint64_t>());
}

template <typename Sent, typename Step>
void Engine::TakeForm(std::uint32_t form, Bytes bytes, std::size_t at, Frontier& in, Step& step) {
  (form & kAsVertices) == 0 ? TakeWords<Sent>(bytes, at, in, step)
                            : TakeVertices<Sent>(bytes, at, in, step);
}

template <typename Sent, typename Step>
void Engine::TakeWords(Bytes bytes, std::size_t at, Frontier& in, Step& step) {
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
void Engine::TakeVertices(Bytes bytes, std::size_t at, Frontier& in, Step& step) {
  using Value = typename Step::Value;
  while (at < bytes.size()) {
    const auto v = Take<VertexId>(bytes, at);
    in.AddWord(v / 64, std::uint64_t{1} << (v % 64));
    if constexpr (!std::is_empty_v<Sent>) step.Mirror(v, Value(Take<Sent>(bytes, at)));
  }
}

// In whichever form is shorter, and values as Step::Short where each of them is the same so. Words
// that a neighbouring segment of the share begins in are sent with either: bits twice, values
// twice, the same both times.
template <typename Step>
Status Engine::SendMirrored(NodeId peer, const Frontier& in, Step& step, Direction direction) {
  const VertexArray<std::uint64_t>& needed = work_.needed_by(peer, direction);
  const auto bits_of = [&](std::size_t word) { return in.word(word) & needed[word]; };
  std::uint64_t word_bytes = 0;
  std::uint64_t vertex_bytes = 0;
  bool all_short = true;
  for (const Workload::Segment& segment : work_.segments()) {
    bool runs = false;
    for (std::size_t word = segment.first / 64; word < segment.words_end(); ++word) {
      const std::uint64_t bits = bits_of(word);
      word_bytes += bits == 0 ? 0 : sizeof(bits) + (runs ? 0 : 2 * sizeof(std::uint32_t));
      vertex_bytes += sizeof(VertexId) * static_cast<std::uint64_t>(std::popcount(bits));
      runs = bits != 0;
      if constexpr (kShortens<Step>) {
        for (std::uint64_t rest = all_short ? bits : 0; rest != 0; rest &= rest - 1) {
          const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
          const auto value = step.Signal(static_cast<VertexId>(word * 64 + bit));
          all_short = all_short && typename Step::Value(typename Step::Short(value)) == value;
        }
      }
    }
  }
  const Form form = word_bytes <= vertex_bytes ? kAsWords : kAsVertices;
  if constexpr (kShortens<Step>) {
    if (all_short) return SendForm<typename Step::Short>(peer, form | kShort, bits_of, step);
  }
  return SendForm<typename Step::Value>(peer, form, bits_of, step);
}

template <typename Sent, typename BitsOf, typename Step>
Status Engine::SendForm(NodeId peer, std::uint32_t form, BitsOf bits_of, Step& step) {
  for (const Workload::Segment& segment : work_.segments()) {
    if (segment.count == 0) continue;
    SLIM_TRY((form & kAsVertices) == 0 ? SendWords<Sent>(peer, form, segment, bits_of, step)
                                       : SendVertices<Sent>(peer, form, segment, bits_of, step));
  }
  return SendBox(peer);
}

// Runs of words: the first, how many, their bits, then a value for each bit.
template <typename Sent, typename BitsOf, typename Step>
Status Engine::SendWords(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                         BitsOf bits_of, Step& step) {
  constexpr std::size_t kMessageBytes = std::is_empty_v<Sent> ? 0 : sizeof(Sent);
  std::vector<std::byte>& box = boxes_[peer];
  std::size_t& filled = filled_[peer];
  const std::size_t end = segment.words_end();
  for (std::size_t word = segment.first / 64; word < end;) {
    if (bits_of(word) == 0) {
      ++word;
      continue;
    }
    if (filled == 0) Open(peer, form);
    std::size_t bytes = 2 * sizeof(std::uint32_t);
    std::size_t run = 0;
    while (word + run < end && bits_of(word + run) != 0) {
      const std::size_t more =
          sizeof(std::uint64_t) +
          kMessageBytes * static_cast<std::size_t>(std::popcount(bits_of(word + run)));
      if (filled + bytes + more > Exchange::kMaxBytes) break;
      bytes += more;
      ++run;
    }
    if (run == 0) {
      SLIM_TRY(SendBox(peer));
      continue;
    }
    Put(box, filled, static_cast<std::uint32_t>(word));
    Put(box, filled, static_cast<std::uint32_t>(run));
    for (std::size_t i = 0; i < run; ++i) Put(box, filled, bits_of(word + i));
    if constexpr (kMessageBytes > 0) {
      for (std::size_t i = 0; i < run; ++i) {
        for (std::uint64_t bits = bits_of(word + i); bits != 0; bits &= bits - 1) {
          const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
          Put(box, filled, Sent(step.Signal(static_cast<VertexId>((word + i) * 64 + bit))));
        }
      }
    }
    word += run;
  }
  return {};
}

// Each vertex, with its value.
template <typename Sent, typename BitsOf, typename Step>
Status Engine::SendVertices(NodeId peer, std::uint32_t form, const Workload::Segment& segment,
                            BitsOf bits_of, Step& step) {
  constexpr std::size_t kMessageBytes = std::is_empty_v<Sent> ? 0 : sizeof(Sent);
  for (std::size_t word = segment.first / 64; word < segment.words_end(); ++word) {
    for (std::uint64_t bits = bits_of(word); bits != 0; bits &= bits - 1) {
      const auto v =
          static_cast<VertexId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (filled_[peer] + sizeof(VertexId) + kMessageBytes > Exchange::kMaxBytes) {
        SLIM_TRY(SendBox(peer));
      }
      if (filled_[peer] == 0) Open(peer, form);
      Put(boxes_[peer], filled_[peer], v);
      if constexpr (kMessageBytes > 0) Put(boxes_[peer], filled_[peer], Sent(step.Signal(v)));
    }
  }
  return {};
}

}  // namespace slimgraph
