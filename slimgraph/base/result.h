// Errors that a user or the environment can cause: an Error says what is wrong, where and what to
// do, and is carried by Result<T>. For what only a bug can get wrong, see check.h.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace slimgraph {

// The values are the exit codes of the `slimgraph` command.
enum class ErrorKind { kVerification = 1, kUsage = 2, kInput = 3, kEnvironment = 4 };

struct Error {
  ErrorKind kind;
  std::string message;

  int exit_code() const { return static_cast<int>(kind); }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <typename... Args>
tl::unexpected<Error> UsageError(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(
      {ErrorKind::kUsage, fmt::format(format, std::forward<Args>(args)...)});
}

template <typename... Args>
tl::unexpected<Error> InputError(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(
      {ErrorKind::kInput, fmt::format(format, std::forward<Args>(args)...)});
}

template <typename... Args>
tl::unexpected<Error> EnvironmentError(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(
      {ErrorKind::kEnvironment, fmt::format(format, std::forward<Args>(args)...)});
}

template <typename... Args>
tl::unexpected<Error> VerificationError(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(
      {ErrorKind::kVerification, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace slimgraph

#define SLIM_CONCAT_INNER(a, b) a##b
#define SLIM_CONCAT(a, b) SLIM_CONCAT_INNER(a, b)

// Returns the error of `expression`, a Status or Result, from the function if it has one.
#define SLIM_TRY(expression)                                      \
  if (auto slim_status = (expression); !slim_status) [[unlikely]] \
  return tl::unexpected<::slimgraph::Error>(std::move(slim_status).error())

// Declares `target` with the value of `expression`, or returns its error from the function.
#define SLIM_ASSIGN(target, expression)                          \
  auto SLIM_CONCAT(slim_result_, __LINE__) = (expression);       \
  if (!SLIM_CONCAT(slim_result_, __LINE__)) [[unlikely]]         \
    return tl::unexpected<::slimgraph::Error>(                   \
        std::move(SLIM_CONCAT(slim_result_, __LINE__)).error()); \
  target = *std::move(SLIM_CONCAT(slim_result_, __LINE__))
