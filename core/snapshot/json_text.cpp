#include "snapshot/json_text.h"

#include <charconv>
#include <cmath>

#include "snapshot/fault.h"

namespace gapless {
namespace {

constexpr int kDepthMax = 32;

class JsonWriter {
 public:
  JsonWriter(const Heap& heap, const Texts& texts, Budget& budget) : heap_(heap), texts_(texts), budget_(budget) {}

  void write(Value value, int depth) {
    if (depth > kDepthMax) fault("nests deeper than " + std::to_string(kDepthMax) + " levels");
    const Value is = heap_.resolve(value);
    switch (is.kind()) {
      case Kind::kNone:
        return put("null");
      case Kind::kBool:
        return put(is.payload() ? "true" : "false");
      case Kind::kInt:
        return put(std::to_string(is.integer()));
      case Kind::kWide:
        return put(std::to_string(heap_.wide_bits(is)));
      case Kind::kWideMinus:
        return put(std::to_string(static_cast<std::int64_t>(heap_.wide_bits(is))));
      case Kind::kFloat:
        return write_double(heap_.number(is));
      case Kind::kText:
        return write_text(texts_[is.index()]);
      case Kind::kPair:
        return write_pair(is);
      case Kind::kEmptyList:
      case Kind::kList:
      case Kind::kTuple:
        return write_list(is, depth);
      case Kind::kEmptyDict:
      case Kind::kDict:
        return write_dict(is, depth);
      case Kind::kHuge:
        fault("holds an integer beyond 64 bits");
      default:
        fault("holds something that is neither number, text, list nor dictionary");
    }
  }

  std::string take() { return std::move(json_); }

 private:
  void put(std::string_view text) {
    budget_.take(2 * text.size());  // the string doubles its room when it grows
    json_ += text;
  }

  void write_pair(Value pair) {
    put("[");
    put(std::to_string(pair.payload() >> kPairBits));
    put(",");
    put(std::to_string(pair.payload() & ((std::uint64_t{1} << kPairBits) - 1)));
    put("]");
  }

  void write_list(Value list, int depth) {
    put("[");
    const std::span<const Value> items = heap_.contents(list);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) put(",");
      write(items[i], depth + 1);
    }
    put("]");
  }

  void write_dict(Value dict, int depth) {
    put("{");
    const std::span<const Value> pairs = heap_.contents(dict);
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      if (i > 0) put(",");
      if (pairs[i].is(Kind::kText)) {
        write_text(texts_[pairs[i].index()]);
      } else if (pairs[i].is(Kind::kInt)) {
        write_text(std::to_string(pairs[i].integer()));
      } else {
        fault("has a key that is neither text nor integer");
      }
      put(":");
      write(pairs[i + 1], depth + 1);
    }
    put("}");
  }

  void write_text(std::string_view text) {
    constexpr char kHex[] = "0123456789abcdef";
    put("\"");
    std::size_t plain = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c >= 0x20 && c != '"' && c != '\\') continue;
      put(text.substr(plain, i - plain));
      const char escape[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
      put({escape, sizeof escape});
      plain = i + 1;
    }
    put(text.substr(plain));
    put("\"");
  }

  void write_double(double number) {
    if (!std::isfinite(number)) return put(std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, number);
    std::string_view written(text, static_cast<std::size_t>(end - text));
    put(written);
    if (written.find_first_of(".e") == std::string_view::npos) put(".0");  // stays a float when read again
  }

  const Heap& heap_;
  const Texts& texts_;
  Budget& budget_;
  std::string json_;
};

}  // namespace

std::string to_json(Value value, const Heap& heap, const Texts& texts, Budget& budget) {
  JsonWriter writer(heap, texts, budget);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace gapless
