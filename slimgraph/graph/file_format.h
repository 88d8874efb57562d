// The graph formats by name: which there are, and which one a file's name stands for.
#pragma once

#include <string>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

enum class FileFormat { kSnap, kMatrixMarket, kMetis, kSg, kWsg, kGemini, kWebGraph, kSlim };

// As said with --from: "snap", "mtx", "metis", "sg", "wsg", "gemini", "webgraph",
// "slim".
Result<FileFormat> ParseFileFormat(std::string_view name);
std::string_view FileFormatName(FileFormat format);

// By the ending, a .gz or .zst behind it left out of account: .txt .el .wel .e .edges .tsv .snap;
// .mtx; .graph .metis; .sg; .wsg; .gemini; .slim. A .graph with a .properties file beside it is of
// the WebGraph framework.
Result<FileFormat> FileFormatOf(const std::string& path);

// The file beside it that a graph of the WebGraph framework needs.
std::string WebGraphPropertiesOf(const std::string& path);

}  // namespace slimgraph
