// The graph formats by name: which there are, and which one a file's name stands for.
#pragma once

#include <string>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

enum class FileFormat { kSnap, kMatrixMarket, kMetis, kSg, kWsg, kGemini, kSlim };

// As said with --from: "snap", "mtx", "metis", "sg", "wsg", "gemini", "slim".
Result<FileFormat> ParseFileFormat(std::string_view name);
std::string_view FileFormatName(FileFormat format);

// By the ending, a .gz or .zst behind it left out of account: .txt .el .wel .e .edges .tsv .snap;
// .mtx; .graph .metis; .sg; .wsg; .gemini; .slim.
Result<FileFormat> FileFormatOf(const std::string& path);

}  // namespace slimgraph
