// The artifact as JSON. Each struct lists its fields once, for writing and reading alike.
#include "compiler/artifact/artifact.h"
#include "compiler/base/hash.h"
#include <algorithm>
#include <concepts>

namespace tilec {
namespace {

constexpr std::string_view modeNames[] = {"in", "out", "inout", "scratch"};
constexpr std::string_view paramNames[] = {"array", "value", "tensor_map", "scratch", "counter", "print_buffer"};

template <class S, class T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

// The fields of each struct. `io` is a Writer or a Reader.
void fields(auto &io, Is<ArraySpec> auto &s) {
  io("name", s.name);
  io("mode", s.mode);
  io("dtype", s.dtype);
  io("extents", s.extents);
  io("strides", s.strides);
  io("align", s.align);
  io("aliases", s.aliases);
  io("zeroed", s.zeroed);
  io("doc", s.doc);
}
void fields(auto &io, Is<ScalarSpec> auto &s) {
  io("name", s.name);
  io("dtype", s.dtype);
}
void fields(auto &io, Is<Condition> auto &s) {
  io("expr", s.expr);
  io("text", s.text);
}
void fields(auto &io, Is<TensorMapSpec> auto &s) {
  io("array", s.array);
  io("axes", s.axes);
  io("box", s.box);
  io("element_strides", s.elementStrides);
  io("swizzle_bytes", s.swizzleBytes);
  io("nan_fill", s.nanFill);
  io("l2_promotion_bytes", s.l2PromotionBytes);
}
void fields(auto &io, Is<LaunchParam> auto &s) {
  io("kind", s.kind);
  io("array", s.array);
  io("value", s.value);
  io("dtype", s.dtype);
  io("map", s.map);
}
void fields(auto &io, Is<Resources> auto &s) {
  io("registers", s.registers);
  io("static_shared_bytes", s.staticSharedBytes);
  io("spill_store_bytes", s.spillStoreBytes);
  io("spill_load_bytes", s.spillLoadBytes);
  io("stack_bytes", s.stackBytes);
  io("barriers", s.barriers);
  io("code_bytes", s.codeBytes);
  io("warnings", s.warnings);
}
void fields(auto &io, Is<SiteSpec> auto &s) {
  io("name", s.name);
  io("array", s.array);
  io("place", s.place);
  io("hints", s.hints);
}
void fields(auto &io, Is<MessageSpec> auto &s) {
  io("assertion", s.assertion);
  io("place", s.place);
  io("pieces", s.pieces);
  io("dtypes", s.dtypes);
  io("shapes", s.shapes);
}
void fields(auto &io, Is<LaunchSpec> auto &s) {
  io("entry", s.entry);
  io("binary", s.binary);
  io("params", s.params);
  io("grid", s.grid);
  io("threads", s.threads);
  io("dynamic_shared_bytes", s.dynamicSharedBytes);
  io("cluster", s.cluster);
  io("persistent", s.persistent);
  io("dependent_launch", s.dependentLaunch);
  io("index64", s.index64);
  io("resources", s.resources);
  io("sites", s.sites);
  io("messages", s.messages);
  io("hints", s.hints);
}
void fields(auto &io, Is<Provenance> auto &s) {
  io("file", s.file);
  io("kernel", s.kernel);
  io("source_hash", s.sourceHash);
  io("ir_hash", s.irHash);
  io("tool_version", s.toolVersion);
  io("assembler", s.assembler);
  io("parameters", s.parameters);
}
/// A clause `let`; a list rather than an object, since a name may be bound again.
void fields(auto &io, Is<std::pair<std::string, LaunchExpr>> auto &s) {
  io("name", s.first);
  io("value", s.second);
}
void fields(auto &io, Is<Artifact> auto &s) {
  io("name", s.name);
  io("arch", s.arch);
  io("doc", s.doc);
  io("arrays", s.arrays);
  io("temporaries", s.temporaries);
  io("scalars", s.scalars);
  io("symbols", s.symbols);
  io("folded", s.folded);
  io("lets", s.lets);
  io("requirements", s.requirements);
  io("launches", s.launches);
  io("provenance", s.provenance);
}

struct Writer {
  Json json = Json::object();
  template <class T> void operator()(const char *key, const T &value) { json[key] = encode(value); }

  static Json encode(std::integral auto v) { return v; }
  static Json encode(const std::string &v) { return v; }
  static Json encode(DType v) { return tilec::name(v); }
  static Json encode(ArrayMode v) { return tilec::name(v); }
  static Json encode(ParamKind v) { return tilec::name(v); }
  static Json encode(const LaunchExpr &v) { return toJson(v); }
  static Json encode(const LaunchValue &v) { return toJson(v); }
  template <class T> static Json encode(const std::optional<T> &v) { return v ? encode(*v) : Json(); }
  template <class T> static Json encode(const std::vector<T> &v) { return list(v); }
  template <class T, size_t N> static Json encode(const std::array<T, N> &v) { return list(v); }
  template <class T> static Json encode(const std::map<std::string, T> &v) {
    Json object = Json::object();
    for (const auto &[key, value] : v)
      object[key] = encode(value);
    return object;
  }
  template <class S>
    requires std::is_class_v<S>
  static Json encode(const S &s) {
    Writer w;
    fields(w, s);
    return std::move(w.json);
  }

private:
  static Json list(const auto &values) {
    Json array = Json::array();
    for (const auto &value : values)
      array.push_back(encode(value));
    return array;
  }
};

/// Reads fields until one does not fit; the first fault is kept, with its path.
struct Reader {
  const Json &json;
  std::string path;
  std::optional<Error> &fault;

  template <class T> void operator()(const char *key, T &out) {
    if (fault)
      return;
    std::string where = path.empty() ? key : fmt::format("{}.{}", path, key);
    auto it = json.find(key);
    if (it == json.end())
      return fail(where, "is missing");
    decode(*it, where, out);
  }

private:
  void fail(const std::string &where, std::string_view what) {
    if (!fault)
      fault = Error{ErrorKind::Usage, fmt::format("artifact field '{}' {}", where, what), "", ""};
  }
  void decode(const Json &j, const std::string &where, bool &out) {
    if (!j.is_boolean())
      return fail(where, "is no bool");
    out = j.get<bool>();
  }
  template <std::integral T> void decode(const Json &j, const std::string &where, T &out) {
    if (!j.is_number_integer())
      return fail(where, "is no integer");
    if (j.is_number_unsigned() ? !std::in_range<T>(j.get<uint64_t>()) : !std::in_range<T>(j.get<int64_t>()))
      return fail(where, "is out of range");
    out = j.get<T>();
  }
  void decode(const Json &j, const std::string &where, std::string &out) {
    if (!j.is_string())
      return fail(where, "is no string");
    out = j.get<std::string>();
  }
  void decode(const Json &j, const std::string &where, DType &out) {
    auto dtype = j.is_string() ? parseDType(j.get_ref<const std::string &>()) : std::nullopt;
    if (!dtype)
      return fail(where, "is no dtype");
    out = *dtype;
  }
  template <class E, size_t N>
  void choose(const Json &j, const std::string &where, const std::string_view (&names)[N], E &out) {
    for (size_t i = 0; i < N; ++i)
      if (j.is_string() && j.get_ref<const std::string &>() == names[i]) {
        out = E(i);
        return;
      }
    fail(where, "has an unknown value");
  }
  void decode(const Json &j, const std::string &where, ArrayMode &out) { choose(j, where, modeNames, out); }
  void decode(const Json &j, const std::string &where, ParamKind &out) { choose(j, where, paramNames, out); }
  template <class T> void take(Result<T> value, const std::string &where, T &out) {
    if (!value)
      return fail(where, fmt::format("is wrong: {}", value.error().message));
    out = std::move(*value);
  }
  void decode(const Json &j, const std::string &where, LaunchExpr &out) { take(launchExprFromJson(j), where, out); }
  void decode(const Json &j, const std::string &where, LaunchValue &out) { take(launchValueFromJson(j), where, out); }
  template <class T> void decode(const Json &j, const std::string &where, std::optional<T> &out) {
    if (!j.is_null())
      decode(j, where, out.emplace());
  }
  template <class T> void decode(const Json &j, const std::string &where, std::vector<T> &out) {
    if (!j.is_array())
      return fail(where, "is no list");
    out.resize(j.size());
    for (size_t i = 0; i < j.size() && !fault; ++i)
      decode(j[i], fmt::format("{}[{}]", where, i), out[i]);
  }
  template <class T, size_t N> void decode(const Json &j, const std::string &where, std::array<T, N> &out) {
    if (!j.is_array() || j.size() != N)
      return fail(where, fmt::format("is no list of {}", N));
    for (size_t i = 0; i < N; ++i)
      decode(j[i], fmt::format("{}[{}]", where, i), out[i]);
  }
  template <class T> void decode(const Json &j, const std::string &where, std::map<std::string, T> &out) {
    if (!j.is_object())
      return fail(where, "is no object");
    for (const auto &item : j.items())
      decode(item.value(), fmt::format("{}.{}", where, item.key()), out[item.key()]);
  }
  template <class S>
    requires std::is_class_v<S>
  void decode(const Json &j, const std::string &where, S &out) {
    if (!j.is_object())
      return fail(where, "is no object");
    Reader inner{j, where, fault};
    fields(inner, out);
  }
};

bool knows(const Artifact &a, const std::string &array) {
  auto named = [&](const ArraySpec &s) { return s.name == array; };
  return std::ranges::any_of(a.arrays, named) || std::ranges::any_of(a.temporaries, named);
}

/// Cross-references and ranges that the launcher relies on.
Status validate(const Artifact &a) {
  auto wrong = [](std::string what) { return usageError("artifact is inconsistent: {}", what); };
  for (const auto *list : {&a.arrays, &a.temporaries})
    for (const ArraySpec &s : *list) {
      if (!s.strides.empty() && s.strides.size() != s.extents.size())
        return wrong(
            fmt::format("array '{}' has {} extents and {} strides", s.name, s.extents.size(), s.strides.size()));
      if (s.align < 1 || (s.align & (s.align - 1)))
        return wrong(fmt::format("array '{}' is aligned to {} bytes", s.name, s.align));
    }
  for (const LaunchSpec &l : a.launches) {
    // Without binaries the plan is that of a program which is not compiled to the end.
    if (!a.binaries.empty() && l.binary >= a.binaries.size())
      return wrong(fmt::format("launch '{}' uses binary {} of {}", l.entry, l.binary, a.binaries.size()));
    if (l.threads < 1 || l.threads > 1024 || l.dynamicSharedBytes < 0 ||
        std::ranges::any_of(l.cluster, [](int c) { return c < 1 || c > 16; }))
      return wrong(fmt::format("launch '{}' has a block of {} threads, {} bytes of shared memory, cluster {}x{}x{}",
                               l.entry, l.threads, l.dynamicSharedBytes, l.cluster[0], l.cluster[1], l.cluster[2]));
    for (const LaunchParam &p : l.params) {
      bool isMap = p.kind == ParamKind::TensorMap;
      if (isMap != p.map.has_value())
        return wrong(fmt::format("a parameter of launch '{}' is half a tensor map", l.entry));
      const std::string &array = isMap ? p.map->array : p.array;
      if ((isMap || p.kind == ParamKind::ArrayBase) && !knows(a, array))
        return wrong(fmt::format("launch '{}' uses array '{}', which is not there", l.entry, array));
      if (isMap && (p.map->axes.empty() || p.map->axes.size() > 5 || p.map->box.size() != p.map->axes.size() ||
                    p.map->elementStrides.size() != p.map->axes.size()))
        return wrong(fmt::format("the tensor map of '{}' in launch '{}' has the wrong rank", array, l.entry));
    }
  }
  return {};
}

} // namespace

std::string_view name(ArrayMode mode) { return modeNames[size_t(mode)]; }
std::string_view name(ParamKind kind) { return paramNames[size_t(kind)]; }

Json toJson(const Artifact &artifact) {
  Writer w;
  w.json["format"] = "tilec-artifact";
  w.json["version"] = artifact.version;
  fields(w, artifact);
  Json binaries = Json::array();
  for (const std::string &bytes : artifact.binaries)
    binaries.push_back({{"bytes", bytes.size()}, {"sha256", sha256(bytes)}});
  w.json["binaries"] = std::move(binaries);
  return std::move(w.json);
}

Result<Artifact> artifactFromJson(const Json &json) {
  if (!json.is_object() || json.value("format", Json()) != Json("tilec-artifact"))
    return usageError("this is no tilec artifact (field 'format' is not \"tilec-artifact\")");
  Artifact a;
  std::optional<Error> fault;
  Reader reader{json, "", fault};
  reader("version", a.version);
  if (fault)
    return std::unexpected(*fault);
  if (a.version != artifactVersion)
    return withHelp(
        usageError("the artifact has version {}, and this tilec reads version {}", a.version, artifactVersion),
        a.version > artifactVersion ? "use the tilec that wrote it, or build the kernel again"
                                    : "build the kernel again");
  fields(reader, a);
  if (fault)
    return std::unexpected(*fault);
  auto binaries = json.find("binaries");
  if (binaries == json.end() || !binaries->is_array())
    return usageError("artifact field 'binaries' is missing or no list");
  a.binaries.resize(binaries->size());
  TILEC_TRY(validate(a));
  return a;
}

} // namespace tilec
