#include "slimgraph/files/internal/edge_lines.h"

#include <algorithm>
#include <bit>

#include "slimgraph/files/internal/number.h"

namespace slimgraph::internal {
namespace {

constexpr std::size_t kMinLineBytes = 4;  // "1 2\n"

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool HoldsExactly(std::int64_t integer) {
  return integer >= -kMaxExactInDouble && integer <= kMaxExactInDouble;
}

enum class Outcome { kDone, kTooNarrow, kWrong };

// Parses one chunk into a block. FastLine handles most lines; SlowLine handles the unusual ones
// (comments, signs, decimals, 20 digits, errors).
template <bool kWide, bool kWeights>
class Parser {
 public:
  using Id = std::conditional_t<kWide, std::uint64_t, std::uint32_t>;

  Parser(const LineChunk& chunk, const EdgeLineRules& rules, const std::string& name)
      : chunk_(chunk), rules_(rules), name_(name) {
    constexpr std::uint64_t kIds = kWide ? ~std::uint64_t{0} : std::uint64_t{1} << 32;
    limit_ = rules.id_count ? std::min(*rules.id_count, kIds) : kIds;
  }

  Result<EdgeBlock> Parse(Outcome& outcome) {
    const std::size_t capacity =
        static_cast<std::size_t>(chunk_.end() - chunk_.begin()) / kMinLineBytes + 1;
    SLIM_ASSIGN(EdgeBlock block, EdgeBlock::Allocate(capacity, kWide, kWeights));
    if constexpr (kWide) {
      edges_ = block.wide_data();
    } else {
      edges_ = block.narrow_data();
    }
    weights_ = block.weight_data();
    const char* p = chunk_.begin();
    const char* const end = chunk_.end();
    while (p < end) {
      const char* const line = p;
      if (FastLine(p)) continue;
      const char* const newline = std::find(line, end, '\n');
      outcome = SlowLine({line, newline});
      if (outcome == Outcome::kTooNarrow) return block;
      if (outcome == Outcome::kWrong) return Wrong({line, newline});
      p = newline + 1;
    }
    outcome = Outcome::kDone;
    block.Finish(size_, decimal_);
    return block;
  }

 private:
  // Accepts a line of two or three numbers with single blanks between, and moves `position` past
  // it. Returns false and changes nothing for any other line.
  bool FastLine(const char*& position) {
    constexpr unsigned kSafeDigits = 19;
    const char* p = position;
    const Digits src = ReadDigits(p);
    p += src.count;
    if (src.count - 1 >= kSafeDigits || (*p != ' ' && *p != '\t')) return false;
    const Digits dst = ReadDigits(++p);
    p += dst.count;
    if (dst.count - 1 >= kSafeDigits) return false;
    Digits weight{0, 0};
    if (rules_.weight_column) {
      if (*p != ' ' && *p != '\t') return false;
      weight = ReadDigits(++p);
      p += weight.count;
      if (weight.count - 1 >= kSafeDigits - 1) return false;
    }
    if (*p != '\n') return false;
    if (!Fits(src.value, dst.value) || (kWeights && decimal_)) return false;
    Add(src.value, dst.value);
    if constexpr (kWeights) weights_[size_ - 1] = weight.value;
    position = p + 1;
    return true;
  }

  bool Fits(std::uint64_t src, std::uint64_t dst) const {
    return src - rules_.first_id < limit_ && dst - rules_.first_id < limit_ &&
           !(rules_.lower_triangle && src < dst);
  }

  void Add(std::uint64_t src, std::uint64_t dst) {
    edges_[size_++] = {static_cast<Id>(src - rules_.first_id),
                       static_cast<Id>(dst - rules_.first_id)};
  }

  Outcome SlowLine(std::string_view line) {
    if (HasNoData(line, rules_.hash_comments)) return Outcome::kDone;
    const Columns columns = SplitColumns(line);
    std::uint64_t src = 0;
    std::uint64_t dst = 0;
    if (columns.count != (rules_.weight_column ? 3u : 2u) || !ParseId(columns.column[0], src) ||
        !ParseId(columns.column[1], dst)) {
      return Outcome::kWrong;
    }
    if (!Fits(src, dst)) {
      // The id 2^64 - 1 is not below limit_, but it is valid.
      const bool last_id = kWide && !rules_.id_count;
      if (!last_id) return kWide || rules_.id_count ? Outcome::kWrong : Outcome::kTooNarrow;
    }
    Add(src, dst);
    if (!rules_.weight_column) return Outcome::kDone;
    return SlowWeight(columns.column[2]) ? Outcome::kDone : Outcome::kWrong;
  }

  bool SlowWeight(std::string_view text) {
    const auto weight = ParseWeight(text);
    if (std::holds_alternative<std::monostate>(weight)) return false;
    const bool is_decimal = std::holds_alternative<double>(weight);
    if (is_decimal && rules_.integer_weights) return false;
    if constexpr (!kWeights) return true;
    if (is_decimal && !decimal_ && !BecomeDecimal()) return false;
    if (is_decimal) {
      weights_[size_ - 1] = std::bit_cast<WeightBits>(std::get<double>(weight));
    } else if (!decimal_) {
      weights_[size_ - 1] = static_cast<WeightBits>(std::get<std::int64_t>(weight));
    } else {
      const std::int64_t integer = std::get<std::int64_t>(weight);
      inexact_ = !HoldsExactly(integer);
      weights_[size_ - 1] = std::bit_cast<WeightBits>(static_cast<double>(integer));
    }
    return !inexact_;
  }

  // Converts the block's weights from integers to doubles.
  bool BecomeDecimal() {
    for (std::size_t i = 0; i + 1 < size_; ++i) {
      const auto integer = static_cast<std::int64_t>(weights_[i]);
      inexact_ |= !HoldsExactly(integer);
      weights_[i] = std::bit_cast<WeightBits>(static_cast<double>(integer));
    }
    decimal_ = true;
    return !inexact_;
  }

  tl::unexpected<Error> Wrong(std::string_view line) const {
    const auto number = chunk_.first_line +
                        static_cast<std::uint64_t>(std::count(chunk_.begin(), line.data(), '\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (inexact_) {
      return InputError(
          "{}:{}: no type holds all its weights exactly: integers beyond 2^53 and decimals, found "
          "{}",
          name_, number, Quoted(line));
    }
    // A heading in the middle of the data, or a comment in another style.
    const bool has_number = line.find_first_of("0123456789") != std::string_view::npos;
    return InputError("{}:{}: expected {}, found {}{}", name_, number, rules_.expected,
                      Quoted(line),
                      has_number ? ""
                                 : fmt::format(", a line without numbers: remove it, or put {} "
                                               "before it to make it a comment",
                                               rules_.hash_comments ? '#' : '%'));
  }

  const LineChunk& chunk_;
  const EdgeLineRules& rules_;
  const std::string& name_;
  std::uint64_t limit_;
  EndPoints<Id>* edges_ = nullptr;
  WeightBits* weights_ = nullptr;
  std::size_t size_ = 0;
  bool decimal_ = false;
  bool inexact_ = false;
};

template <bool kWeights>
Result<EdgeBlock> ParseNarrowOrWide(const LineChunk& chunk, const EdgeLineRules& rules,
                                    const std::string& name) {
  Outcome outcome = Outcome::kDone;
  Result<EdgeBlock> block = Parser<false, kWeights>(chunk, rules, name).Parse(outcome);
  if (!block || outcome != Outcome::kTooNarrow) return block;
  return Parser<true, kWeights>(chunk, rules, name).Parse(outcome);
}

}  // namespace

Result<EdgeBlock> ParseEdgeLines(const LineChunk& chunk, const EdgeLineRules& rules,
                                 const std::string& name) {
  return rules.weight_column && rules.keep_weights ? ParseNarrowOrWide<true>(chunk, rules, name)
                                                   : ParseNarrowOrWide<false>(chunk, rules, name);
}

Columns SplitColumns(std::string_view line) {
  Columns columns;
  for (std::size_t at = 0;;) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    if (at == line.size()) return columns;
    const std::size_t begin = at;
    while (at < line.size() && !IsBlank(line[at])) ++at;
    if (columns.count < Columns::kMaxColumns) {
      columns.column[columns.count] = line.substr(begin, at - begin);
    }
    ++columns.count;
  }
}

bool HasNoData(std::string_view line, bool hash_comments) {
  std::size_t at = 0;
  while (at < line.size() && IsBlank(line[at])) ++at;
  return at == line.size() || line[at] == '%' || (hash_comments && line[at] == '#');
}

}  // namespace slimgraph::internal
