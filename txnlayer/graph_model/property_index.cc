#include "txnlayer/graph_model/property_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "slimgraph/base/check.h"

namespace slimgraph::txn {
namespace {

static_assert(std::numeric_limits<FieldValue>::digits >= 64);

constexpr std::array<const char*, 10> kTypeNames = {"u8",  "u16", "u32", "u64", "i8",
                                                    "i16", "i32", "i64", "f32", "f64"};

// Calls use(value of the field's type).
template <typename Use>
auto WithType(FieldType type, Use use) {
  switch (type) {
    case FieldType::kU8:
      return use(std::uint8_t{});
    case FieldType::kU16:
      return use(std::uint16_t{});
    case FieldType::kU32:
      return use(std::uint32_t{});
    case FieldType::kU64:
      return use(std::uint64_t{});
    case FieldType::kI8:
      return use(std::int8_t{});
    case FieldType::kI16:
      return use(std::int16_t{});
    case FieldType::kI32:
      return use(std::int32_t{});
    case FieldType::kI64:
      return use(std::int64_t{});
    case FieldType::kF32:
      return use(float{});
    case FieldType::kF64:
      break;
  }
  return use(double{});
}

std::uint32_t BytesOf(FieldType type) {
  return WithType(type, [](auto value) { return static_cast<std::uint32_t>(sizeof value); });
}

template <typename T>
T Field(const PropertyIndex& index, Bytes properties) {
  T value;
  SLIM_CHECK(index.offset + sizeof value <= properties.size(), "a field beyond the properties");
  std::memcpy(&value, properties.data() + index.offset, sizeof value);
  return value;
}

// --- The magnitude of a whole number n is n, or -n - 1 if n is negative. Its code has 23 bits.
// That of a small magnitude is the magnitude itself. Of a larger one, the code has the leading
// bits, and how many others there are.
constexpr unsigned kExactBits = 18;
constexpr std::uint64_t kExact = std::uint64_t{1} << kExactBits;
constexpr ValueCode kZero = 1 << 23;  // the code of 0

ValueCode CodeOfMagnitude(std::uint64_t magnitude) {
  if (magnitude < kExact) return static_cast<ValueCode>(magnitude);
  const auto others = static_cast<unsigned>(std::bit_width(magnitude)) - kExactBits;
  return static_cast<ValueCode>(others * (kExact / 2) + (magnitude >> others));
}

std::pair<std::uint64_t, std::uint64_t> MagnitudesOf(ValueCode code) {
  if (code < kExact) return {code, code};
  const auto others = static_cast<unsigned>(code / (kExact / 2)) - 1;
  if (others > 64 - kExactBits) return {~std::uint64_t{0}, ~std::uint64_t{0}};  // of no number
  const std::uint64_t first = (code - others * (kExact / 2)) << others;
  return {first, first | ((std::uint64_t{1} << others) - 1)};
}

template <std::integral T>
ValueCode Encode(T value) {
  if constexpr (std::is_signed_v<T>) {
    if (value < 0) return kZero - 1 - CodeOfMagnitude(~static_cast<std::uint64_t>(value));
  }
  return kZero + CodeOfMagnitude(static_cast<std::uint64_t>(value));
}

// Bits that rise with the number: those of negative numbers are inverted.
template <std::floating_point T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <std::floating_point T>
BitsOf<T> Rising(BitsOf<T> bits) {
  constexpr auto kSign = static_cast<BitsOf<T>>(BitsOf<T>{1} << (sizeof(T) * 8 - 1));
  return (bits & kSign) != 0 ? static_cast<BitsOf<T>>(~bits) : bits | kSign;
}

template <std::floating_point T>
T FromRising(BitsOf<T> rising) {
  constexpr auto kSign = static_cast<BitsOf<T>>(BitsOf<T>{1} << (sizeof(T) * 8 - 1));
  return std::bit_cast<T>((rising & kSign) != 0 ? static_cast<BitsOf<T>>(rising ^ kSign)
                                                : static_cast<BitsOf<T>>(~rising));
}

template <std::floating_point T>
constexpr unsigned kDropped = sizeof(T) * 8 - 24;

// Both zeros have one code.
template <std::floating_point T>
ValueCode Encode(T value) {
  const auto bits = std::bit_cast<BitsOf<T>>(value == 0 ? T{0} : value);
  return static_cast<ValueCode>(Rising<T>(bits) >> kDropped<T>);
}

template <std::integral T>
ValueRange Decode(ValueCode code, T) {
  if (code >= kZero) {
    const auto [first, last] = MagnitudesOf(code - kZero);
    return {static_cast<FieldValue>(first), static_cast<FieldValue>(last)};
  }
  const auto [first, last] = MagnitudesOf(kZero - 1 - code);
  return {-static_cast<FieldValue>(last) - 1, -static_cast<FieldValue>(first) - 1};
}

template <std::floating_point T>
ValueRange Decode(ValueCode code, T) {
  const BitsOf<T> first = BitsOf<T>{code} << kDropped<T>;
  const auto others = static_cast<BitsOf<T>>((BitsOf<T>{1} << kDropped<T>)-1);
  return {FromRising<T>(first), FromRising<T>(first | others)};
}

}  // namespace

Result<PropertyIndex> PropertyIndex::Parse(const std::string& text) {
  const auto wrong = [&](const char* what) {
    return UsageError("index {}: {}; for example, age=0:u32", text, what);
  };
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':', equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || colon == std::string::npos) {
    return wrong("it must be NAME=OFFSET:TYPE");
  }
  PropertyIndex index;
  index.name = text.substr(0, equals);
  const char* const end = text.data() + colon;
  const auto number = std::from_chars(text.data() + equals + 1, end, index.offset);
  if (number.ec != std::errc() || number.ptr != end) return wrong("the offset is no number");
  const auto type = std::find(kTypeNames.begin(), kTypeNames.end(), text.substr(colon + 1));
  if (type == kTypeNames.end()) {
    return wrong("types are u8, u16, u32, u64, i8, i16, i32, i64, f32 and f64");
  }
  index.type = static_cast<FieldType>(type - kTypeNames.begin());
  return index;
}

std::string PropertyIndex::ToText() const {
  return fmt::format("{}={}:{}", name, offset, kTypeNames.at(static_cast<std::size_t>(type)));
}

Status CheckIndexes(std::span<const PropertyIndex> indexes, std::uint32_t vertex_bytes) {
  if (indexes.size() > kMostIndexes) {
    return UsageError("{} indexes: at most {} are possible", indexes.size(), kMostIndexes);
  }
  for (const PropertyIndex& index : indexes) {
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (index.name.empty() || index.name.size() > kMostIndexName ||
        !std::all_of(index.name.begin(), index.name.end(), is_letter)) {
      return UsageError("index {}: its name must be 1 to {} letters, digits and _", index.ToText(),
                        kMostIndexName);
    }
    if (std::uint64_t{index.offset} + BytesOf(index.type) > vertex_bytes) {
      return UsageError("index {}: vertices have only {} bytes of properties", index.ToText(),
                        vertex_bytes);
    }
    const auto same = [&](const PropertyIndex& other) { return other.name == index.name; };
    if (std::count_if(indexes.begin(), indexes.end(), same) > 1) {
      return UsageError("index {}: another one has this name", index.ToText());
    }
  }
  return {};
}

FieldValue ValueOf(const PropertyIndex& index, Bytes properties) {
  return WithType(index.type, [&](auto value) -> FieldValue {
    return Field<decltype(value)>(index, properties);
  });
}

ValueCode CodeOf(const PropertyIndex& index, Bytes properties) {
  return WithType(index.type,
                  [&](auto value) { return Encode(Field<decltype(value)>(index, properties)); });
}

// A bound between two numbers of the type becomes one of them. That is harmless for floating-point
// numbers: whoever rounds keeps the order.
std::optional<std::pair<ValueCode, ValueCode>> CodesOf(FieldType type, const ValueRange& range) {
  using Codes = std::optional<std::pair<ValueCode, ValueCode>>;
  if (!(range.first <= range.last)) return std::nullopt;
  return WithType(type, [&](auto value) -> Codes {
    using T = decltype(value);
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      const FieldValue first =
          std::max(std::ceil(range.first), static_cast<FieldValue>(Limits::min()));
      const FieldValue last =
          std::min(std::floor(range.last), static_cast<FieldValue>(Limits::max()));
      if (first > last) return std::nullopt;
      return Codes({Encode(static_cast<T>(first)), Encode(static_cast<T>(last))});
    } else {
      return Codes({Encode(static_cast<T>(range.first)), Encode(static_cast<T>(range.last))});
    }
  });
}

ValueRange ValuesOf(FieldType type, ValueCode code) {
  return WithType(type, [&](auto value) { return Decode(code, value); });
}

}  // namespace slimgraph::txn
