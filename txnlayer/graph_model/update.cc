#include "txnlayer/graph_model/update.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

namespace slimgraph::txn {
namespace {

constexpr unsigned kKindShift = 60;
constexpr std::uint64_t kPropertiesBit = std::uint64_t{1} << 59;
constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::size_t kLongestLine = 4096;

std::uint32_t PropertyBytes(const GraphShape& shape, UpdateKind kind) {
  return IsOfVertex(kind) ? shape.vertex_bytes : shape.edge_bytes;
}

int HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

std::string_view TakeWord(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && text[end] != ' ' && text[end] != '\t') ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool ParseName(std::string_view word, bool directed, VertexName& name) {
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), name);
  return failed == std::errc() && end == word.data() + word.size() &&
         name <= MaxVertexName(directed);
}

// Makes text fit for a message: replaces unprintable characters by '?' and shortens it.
std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, 60));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > 60 ? shown + "…" : shown;
}

}  // namespace

void AppendUpdate(const Update& update, std::vector<std::uint64_t>& words) {
  const bool with = !update.properties.empty();
  words.push_back((static_cast<std::uint64_t>(update.kind) << kKindShift) |
                  (with ? kPropertiesBit : 0) | update.one);
  if (!IsOfVertex(update.kind)) words.push_back(update.other);
  if (!with) return;
  const std::size_t at = words.size();
  words.resize(at + WholeWords(static_cast<std::uint32_t>(update.properties.size())) / kWordBytes);
  std::memcpy(words.data() + at, update.properties.data(), update.properties.size());
}

bool TakeUpdate(const GraphShape& shape, std::span<const std::uint64_t>& words, Update& update) {
  if (words.empty()) return false;
  const std::uint64_t kind = words[0] >> kKindShift;
  if (kind > static_cast<std::uint64_t>(UpdateKind::kDeleteVertex)) return false;
  update.kind = static_cast<UpdateKind>(kind);
  update.one = words[0] & kMaxVertexName;
  const bool with = (words[0] & kPropertiesBit) != 0;
  const std::size_t names = IsOfVertex(update.kind) ? 1 : 2;
  const std::uint32_t bytes = with ? PropertyBytes(shape, update.kind) : 0;
  const std::size_t all = names + WholeWords(bytes) / kWordBytes;
  if (words.size() < all) return false;
  update.other = names == 2 ? words[1] & kMaxVertexName : 0;
  update.properties = std::as_bytes(words.subspan(names)).first(bytes);
  words = words.subspan(all);
  return true;
}

void AppendLine(const GraphShape& shape, const Update& update, std::string& text) {
  constexpr const char* kSigns[] = {"+", "-", "+v", "-v"};  // by kind
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "{} {}", kSigns[static_cast<std::size_t>(update.kind)], update.one);
  if (!IsOfVertex(update.kind)) fmt::format_to(to, " {}", update.other);
  Bytes hex = update.properties;
  if (update.kind == UpdateKind::kAddEdge && shape.weights != WeightType::kNone) {
    WithWeightType(shape.weights, [&](auto weight) {
      if (!hex.empty()) std::memcpy(&weight, hex.data(), sizeof weight);
      fmt::format_to(to, " {}", weight);
    });
    hex = hex.subspan(std::min<std::size_t>(hex.size(), shape.weight_bytes()));
  }
  if (!hex.empty()) text += ' ';
  for (const std::byte byte : hex) {
    fmt::format_to(to, "{:02x}", std::to_integer<unsigned>(byte));
  }
  text += '\n';
}

bool UpdateLines::ParseWeight(std::string_view word, std::byte* into) const {
  bool well = false;
  WithWeightType(shape_.weights, [&](auto weight) {
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), weight);
    well = failed == std::errc() && end == word.data() + word.size() &&
           std::isfinite(static_cast<double>(weight));
    std::memcpy(into, &weight, sizeof weight);
  });
  return well;
}

Result<UpdateLines> UpdateLines::Open(const std::string& path, const GraphShape& shape) {
  SLIM_ASSIGN(UniqueFd fd, OpenForReading(path));
  SLIM_TRY(FileSize(fd, path));
  return UpdateLines(path, std::move(fd), shape);
}

Result<bool> UpdateLines::NextLine(std::string_view& text) {
  while (true) {
    const auto first = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
    const auto last = buffer_.begin() + static_cast<std::ptrdiff_t>(end_);
    const auto found = std::find(first, last, '\n');
    if (found != last) {
      text = std::string_view(buffer_.data() + begin_, static_cast<std::size_t>(found - first));
      begin_ += text.size() + 1;
      ++line_;
      return true;
    }
    if (end_ - begin_ > kLongestLine) {
      ++line_;
      return InputError("{}: a line of more than {} bytes", Where(), kLongestLine);
    }
    std::copy(first, last, buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    buffer_.resize(kLongestLine + kReadBytes);
    const auto room = std::as_writable_bytes(std::span(buffer_)).subspan(end_, kReadBytes - 1);
    SLIM_ASSIGN(const std::size_t got, ReadAt(fd_, path_, offset_, room));
    offset_ += got;
    if (got == 0 && end_ == 0) return false;
    end_ += got;
    if (got == 0) buffer_[end_++] = '\n';  // the last line may have no newline
  }
}

Result<bool> UpdateLines::Next(Update& update) {
  std::string_view text;
  while (true) {
    SLIM_ASSIGN(const bool more, NextLine(text));
    if (!more) return false;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    SLIM_ASSIGN(const bool is_update, Parse(text, update));
    if (is_update) return true;
  }
}

Result<bool> UpdateLines::Parse(std::string_view text, Update& update) {
  std::string_view rest = text;
  const std::string_view sign = TakeWord(rest);
  if (sign.empty() || sign.front() == '#') return false;
  const auto wrong = [&](const char* expected) {
    return InputError("{}: expected {}, found \"{}\"", Where(), expected, Shown(text));
  };
  const bool weighted = shape_.weights != WeightType::kNone;
  const char* const forms =
      weighted ? "\"+ u v weight [props]\", \"- u v\", \"+v id [props]\" or \"-v id\""
               : "\"+ u v [props]\", \"- u v\", \"+v id [props]\" or \"-v id\"";
  if (sign == "+") {
    update.kind = UpdateKind::kAddEdge;
  } else if (sign == "-") {
    update.kind = UpdateKind::kDeleteEdge;
  } else if (sign == "+v") {
    update.kind = UpdateKind::kAddVertex;
  } else if (sign == "-v") {
    update.kind = UpdateKind::kDeleteVertex;
  } else {
    return wrong(forms);
  }
  update.other = 0;
  const bool directed = shape_.directed;
  if (!ParseName(TakeWord(rest), directed, update.one)) {
    return wrong(directed ? "an id below 2^39" : "an id below 2^40");
  }
  if (!IsOfVertex(update.kind) && !ParseName(TakeWord(rest), directed, update.other)) {
    return wrong(directed ? "two ids below 2^39" : "two ids below 2^40");
  }
  update.properties = {};
  std::uint32_t at = 0;  // offset in the properties
  if (weighted && update.kind == UpdateKind::kAddEdge) {
    at = shape_.weight_bytes();
    properties_.assign(shape_.edge_bytes, std::byte{0});
    if (!ParseWeight(TakeWord(rest), properties_.data())) return wrong("a weight after two ids");
    update.properties = properties_;
  }
  const std::string_view hex = TakeWord(rest);
  if (!TakeWord(rest).empty()) return wrong(forms);
  if (hex.empty()) return true;
  if (update.kind == UpdateKind::kDeleteEdge || update.kind == UpdateKind::kDeleteVertex) {
    return wrong("nothing after the deleted ids");
  }
  const std::uint32_t bytes = PropertyBytes(shape_, update.kind) - at;
  if (hex.size() % 2 != 0 || hex.size() / 2 > bytes) {
    return InputError("{}: expected up to {} bytes of properties in hexadecimal, found \"{}\"",
                      Where(), bytes, Shown(text));
  }
  properties_.resize(at);
  properties_.resize(at + bytes);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexValue(hex[i]);
    const int low = HexValue(hex[i + 1]);
    if (high < 0 || low < 0) return wrong("properties in hexadecimal");
    properties_[at + i / 2] = static_cast<std::byte>(high * 16 + low);
  }
  update.properties = properties_;
  return true;
}

Result<std::uint64_t> IdentityOf(const std::string& path) {
  SLIM_ASSIGN(const UniqueFd fd, OpenForReading(path));
  SLIM_TRY(FileSize(fd, path));
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<std::byte> buffer(kReadBytes);
  for (std::uint64_t at = 0;;) {
    SLIM_ASSIGN(const std::size_t got, ReadAt(fd, path, at, buffer));
    if (got == 0) return XXH3_64bits_digest(state.get());
    XXH3_64bits_update(state.get(), buffer.data(), got);
    at += got;
  }
}

}  // namespace slimgraph::txn
