// The supported graph formats, their names, and the format that a file's name implies.
#pragma once

#include <string>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

enum class FileFormat { kSnap, kMatrixMarket, kMetis, kSg, kWsg, kGemini, kWebGraph, kSlim };

// Parses a value of --from: "snap", "mtx", "metis", "sg", "wsg", "gemini", "webgraph" or "slim".
Result<FileFormat> ParseFileFormat(std::string_view name);
std::string_view FileFormatName(FileFormat format);

// The format that the suffix of `path` implies; a final .gz or .zst is ignored. The suffixes are
// .txt .el .wel .e .edges .tsv .snap; .mtx; .graph .metis; .sg; .wsg; .gemini; .slim. A .graph file
// with a .properties file beside it is a WebGraph file.
Result<FileFormat> FileFormatOf(const std::string& path);

// The path of the .properties file that belongs to the WebGraph file `path`.
std::string WebGraphPropertiesOf(const std::string& path);

}  // namespace slimgraph
