#include "apps/output/value_file.h"

#include <bit>
#include <charconv>
#include <limits>
#include <vector>

#include "apps/output/numpy_header.h"

namespace slimgraph {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;

// Lines "id value", or "id,value" after a line that names the columns.
class LineFile : public ValueFile {
 public:
  LineFile(TextOutput output, char between) : output_(std::move(output)), between_(between) {
    if (between == ',') text_ = "id,value\n";
  }

  Status Add(std::uint64_t id, std::string_view value) override {
    const fmt::format_int digits(id);
    text_.append(digits.data(), digits.size());
    text_ += between_;
    text_ += value;
    text_ += '\n';
    return text_.size() < kBlockBytes ? Status() : Write();
  }
  Status Finish() override {
    SLIM_TRY(Write());
    return output_.Commit();
  }

 private:
  Status Write() {
    SLIM_TRY(output_.Append(text_));
    text_.clear();
    return {};
  }

  TextOutput output_;
  char between_;
  std::string text_;
};

// Records (id, value) for NumPy. The type of the values is the first
// of int64, uint64 and double that holds all of them.
class NumpyFile : public ValueFile {
 public:
  explicit NumpyFile(TextOutput output) : output_(std::move(output)) {}

  Status Add(std::uint64_t id, std::string_view value) override {
    Row row{id, 0};
    const auto parse = [value](auto& number) {
      const auto [end, failed] = std::from_chars(value.begin(), value.end(), number);
      return failed == std::errc() && end == value.end();
    };
    std::int64_t whole = 0;
    double number = 0;
    if (kind_ != Kind::kDouble && parse(row.bits)) {
      is_large_ |= row.bits > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    } else if (kind_ != Kind::kDouble && parse(whole)) {
      row.bits = static_cast<std::uint64_t>(whole);
      is_negative_ = true;
    } else if (parse(number)) {
      BecomeDouble();
      row.bits = std::bit_cast<std::uint64_t>(number);
    } else {
      return EnvironmentError("bug: '{}' is no number for a .npy file", value);
    }
    rows_.push_back(row);
    if (is_large_ && is_negative_) BecomeDouble();
    return {};
  }

  Status Finish() override {
    const char* const type = kind_ == Kind::kDouble ? "<f8" : is_large_ ? "<u8" : "<i8";
    const std::string fields = fmt::format("('id', '<u8'), ('value', '{}')", type);
    SLIM_TRY(output_.Append(NumpyHeader(fields, rows_.size())));
    SLIM_TRY(
        output_.Append({reinterpret_cast<const char*>(rows_.data()), sizeof(Row) * rows_.size()}));
    return output_.Commit();
  }

  struct Row {
    std::uint64_t id;
    std::uint64_t bits;
  };

 private:
  enum class Kind { kWhole, kDouble };

  void BecomeDouble() {
    if (kind_ == Kind::kDouble) return;
    for (Row& row : rows_) {
      const double number = is_negative_ ? static_cast<double>(static_cast<std::int64_t>(row.bits))
                                         : static_cast<double>(row.bits);
      row.bits = std::bit_cast<std::uint64_t>(number);
    }
    kind_ = Kind::kDouble;
  }

  TextOutput output_;
  std::vector<Row> rows_;
  Kind kind_ = Kind::kWhole;
  bool is_large_ = false;     // a value is above the largest int64
  bool is_negative_ = false;  // a value is below 0
};

}  // namespace

Result<std::unique_ptr<ValueFile>> ValueFile::Create(const std::string& path) {
  SLIM_ASSIGN(TextOutput output, TextOutput::Create(path));
  if (path.ends_with(".npy")) return std::make_unique<NumpyFile>(std::move(output));
  return std::make_unique<LineFile>(std::move(output), path.ends_with(".csv") ? ',' : ' ');
}

std::uint64_t ValueFile::MemoryBytes(const std::string& path, std::uint64_t vertices) {
  // A vector that grows holds up to three times its contents for a moment.
  return path.ends_with(".npy") ? 3 * sizeof(NumpyFile::Row) * vertices : kBlockBytes;
}

}  // namespace slimgraph
