#include "compiler/device/device.h"
#include <array>
#include <initializer_list>

namespace tilec {

namespace {
constexpr unsigned char bitcode[] = {
#include "bitcode.inc"
};

struct MathRow {
  std::string_view function;
  bool approximate;
};
constexpr MathRow mathRows[] = {
#define DEVICE_MATH(function, arity, approximate) {#function, approximate != 0},
#include "compiler/device/device.def"
};

struct CvtRow {
  std::string_view from, to;
  bool towardZero;
};
constexpr CvtRow cvtRows[] = {
#define DEVICE_CVT(from, to) {#from, #to, false},
#define DEVICE_CVT_RZ(from, to) {#from, #to, true},
#include "compiler/device/device.def"
};

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts)
    text += part;
  return text;
}
} // namespace

std::string_view deviceBitcode() { return {reinterpret_cast<const char *>(bitcode), sizeof bitcode}; }

std::string deviceMathSymbol(std::string_view function, std::string_view dtype, bool approx, bool ftz) {
  if (dtype != "f32" && dtype != "f64")
    return "";
  for (const MathRow &row : mathRows)
    if (row.function == function) {
      bool hardware = approx && row.approximate && dtype == "f32";
      return concat({"__tilec_", function, "_", dtype, hardware ? "_approx" : "", hardware && ftz ? "_ftz" : ""});
    }
  return "";
}

std::string deviceCvtSymbol(std::string_view from, std::string_view to, bool towardZero) {
  for (const CvtRow &row : cvtRows)
    if (row.from == from && row.to == to && row.towardZero == towardZero)
      return concat({"__tilec_cvt_", from, "_", to, towardZero ? "_rz" : ""});
  return "";
}

} // namespace tilec
