#include "slimgraph/files/file_format.h"

#include <array>
#include <utility>

#include "slimgraph/base/folders.h"
#include "slimgraph/files/internal/byte_source.h"

namespace slimgraph {
namespace {

using Named = std::pair<std::string_view, FileFormat>;

constexpr std::array kNames = {
    Named{"snap", FileFormat::kSnap},         Named{"mtx", FileFormat::kMatrixMarket},
    Named{"metis", FileFormat::kMetis},       Named{"sg", FileFormat::kSg},
    Named{"wsg", FileFormat::kWsg},           Named{"gemini", FileFormat::kGemini},
    Named{"webgraph", FileFormat::kWebGraph}, Named{"slim", FileFormat::kSlim},
};

constexpr std::array kSuffixes = {
    Named{".txt", FileFormat::kSnap},      Named{".el", FileFormat::kSnap},
    Named{".wel", FileFormat::kSnap},      Named{".e", FileFormat::kSnap},
    Named{".edges", FileFormat::kSnap},    Named{".tsv", FileFormat::kSnap},
    Named{".snap", FileFormat::kSnap},     Named{".mtx", FileFormat::kMatrixMarket},
    Named{".graph", FileFormat::kMetis},   Named{".metis", FileFormat::kMetis},
    Named{".sg", FileFormat::kSg},         Named{".wsg", FileFormat::kWsg},
    Named{".gemini", FileFormat::kGemini}, Named{".slim", FileFormat::kSlim},
};

constexpr std::string_view kAllNames = "snap, mtx, metis, sg, wsg, gemini, webgraph or slim";

}  // namespace

Result<FileFormat> ParseFileFormat(std::string_view name) {
  for (const auto& [known, format] : kNames) {
    if (known == name) return format;
  }
  return UsageError("'{}' is not a format: expected {}", name, kAllNames);
}

std::string_view FileFormatName(FileFormat format) {
  for (const auto& [name, known] : kNames) {
    if (known == format) return name;
  }
  return "unknown";
}

Result<FileFormat> FileFormatOf(const std::string& path) {
  const std::string plain = internal::WithoutCompressionSuffix(path);
  if (plain.ends_with(".graph")) {
    SLIM_ASSIGN(const bool is_web_graph, Exists(WebGraphPropertiesOf(plain)));
    if (is_web_graph) return FileFormat::kWebGraph;
  }
  for (const auto& [suffix, format] : kSuffixes) {
    if (plain.ends_with(suffix)) return format;
  }
  SLIM_ASSIGN(const bool is_there, Exists(path));
  if (!is_there) return InputError("{}: there is no such file", path);
  return UsageError("{}: its name does not tell its format: say --from with {}", path, kAllNames);
}

std::string WebGraphPropertiesOf(const std::string& path) {
  const std::string plain = internal::WithoutCompressionSuffix(path);
  constexpr std::string_view kEnding = ".graph";
  const std::size_t stem = plain.size() - (plain.ends_with(kEnding) ? kEnding.size() : 0);
  return plain.substr(0, stem) + ".properties";
}

}  // namespace slimgraph
