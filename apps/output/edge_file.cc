#include "apps/output/edge_file.h"

#include <iterator>
#include <utility>

#include "apps/output/numpy_header.h"

namespace slimgraph {

Result<EdgeFile> EdgeFile::Create(const std::string& path) {
  SLIM_ASSIGN(TextOutput output, TextOutput::Create(path));
  const Form form = path.ends_with(".npy")   ? Form::kNumpy
                    : path.ends_with(".csv") ? Form::kCsv
                                             : Form::kText;
  return EdgeFile(std::move(output), form);
}

Status EdgeFile::Begin(std::uint64_t edges, const char* value_name) {
  if (form_ == Form::kCsv) text_ = fmt::format("src,dst,{}\n", value_name);
  if (form_ == Form::kNumpy) {
    const auto fields = fmt::format("('src', '<u8'), ('dst', '<u8'), ('{}', '<i8')", value_name);
    text_ = NumpyHeader(fields, edges);
  }
  return {};
}

Status EdgeFile::Add(std::uint64_t a, std::uint64_t b, std::uint64_t value) {
  if (form_ == Form::kNumpy) {
    const std::uint64_t record[] = {a, b, value};
    text_.append(reinterpret_cast<const char*>(record), sizeof record);
  } else {
    const char between = form_ == Form::kCsv ? ',' : ' ';
    fmt::format_to(std::back_inserter(text_), "{}{}{}{}{}\n", a, between, b, between, value);
  }
  return text_.size() < kMemoryBytes / 2 ? Status() : Write();
}

Status EdgeFile::Finish() {
  SLIM_TRY(Write());
  return output_.Commit();
}

Status EdgeFile::Write() {
  SLIM_TRY(output_.Append(text_));
  text_.clear();
  return {};
}

}  // namespace slimgraph
