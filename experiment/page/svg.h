// A plot as an SVG element of a page, whose style sheet defines the colours (page.cc).
#pragma once

#include <string>
#include <string_view>

#include "experiment/page/figure.h"

namespace slimgraph::experiment {

// Further series would repeat a colour and shape.
constexpr std::size_t kStyles = 7;

// `title` is the text alternative for screen readers.
std::string ToSvg(const Plot& plot, const std::string& title);

// The fill patterns of bars, needed once per page.
std::string SvgPatterns();

// Escapes text for HTML and SVG.
std::string Escape(std::string_view text);

}  // namespace slimgraph::experiment
