#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim::fuzz {

// A file in short form: a fuzzer's input of some kilobytes describes a model of megabytes, and all of its structure can
// be mutated. The whole file is never in memory. The input is a list of pieces:
//   'b' n (u16) and n bytes: these bytes
//   'r' n (u8), n bytes and a number (u32): the bytes repeated so many times
// An input that begins with another byte stands for itself, up to its end. Integers are little-endian. A truncated
// piece has the length that is left.
class Pieces : public std::streambuf {
 public:
  // `text` must outlive this. Bytes beyond `most` are left out.
  Pieces(std::string_view text, std::size_t most) {
    while (!text.empty() && size_ < most) {
      const char kind = text.front();
      if (kind != 'b' && kind != 'r') {
        add(text, text.size(), most);
        break;
      }
      text.remove_prefix(1);
      if (kind == 'b') {
        const std::string_view bytes = take(text, take_value<std::uint16_t>(text));
        add(bytes, bytes.size(), most);
      } else {
        const std::string_view bytes = take(text, take_value<std::uint8_t>(text));
        add(bytes, bytes.size() * take_value<std::uint32_t>(text), most);
      }
    }
  }

  std::size_t size() const noexcept { return size_; }

  // Up to `count` bytes of the file from `from` on.
  std::string bytes(std::size_t from, std::size_t count) const {
    std::string result(std::min(count, size_ - std::min(from, size_)), '\0');
    copy(from, result.data(), result.size());
    return result;
  }

 private:
  struct Piece {
    // Its offset in the file.
    std::size_t at;
    std::string_view bytes;
  };

  static std::string_view take(std::string_view& from, std::size_t size) {
    const std::string_view taken = from.substr(0, size);
    from.remove_prefix(taken.size());
    return taken;
  }

  template <typename T>
  static T take_value(std::string_view& from) {
    T value{};
    const std::string_view taken = take(from, sizeof(T));
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }

  void add(std::string_view bytes, std::size_t size, std::size_t most) {
    if (bytes.empty() || size == 0) return;
    pieces_.push_back({size_, bytes});
    size_ += std::min(size, most - size_);
  }

  void copy(std::size_t from, char* to, std::size_t count) const {
    while (count > 0) {
      const auto next = std::ranges::upper_bound(pieces_, from, {}, &Piece::at);
      const Piece& piece = *(next - 1);
      const std::size_t end = next == pieces_.end() ? size_ : next->at;
      const std::size_t run = std::min(count, end - from);
      repeat(piece.bytes, (from - piece.at) % piece.bytes.size(), to, run);
      from += run;
      to += run;
      count -= run;
    }
  }

  // Repeats the bytes, starting at `place` within them. The copied length doubles each time: a single byte may be
  // repeated millions of times.
  static void repeat(std::string_view bytes, std::size_t place, char* to, std::size_t count) {
    std::size_t done = bytes.substr(place).copy(to, count);
    done += bytes.substr(0, place).copy(to + done, count - done);
    while (done < count) {
      const std::size_t more = std::min(done, count - done);
      std::memcpy(to + done, to, more);
      done += more;
    }
  }

  // Buffers reads: a file may consist of a hundred thousand small values.
  int_type underflow() override {
    const std::size_t run = std::min(kBufferBytes, size_ - position_);
    if (run == 0) return traits_type::eof();
    buffer_.resize(run);
    copy(position_, buffer_.data(), run);
    position_ += run;
    setg(buffer_.data(), buffer_.data(), buffer_.data() + run);
    return traits_type::to_int_type(buffer_.front());
  }

  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode mode) override {
    off_type base = 0;
    if (from == std::ios::end) base = static_cast<off_type>(size_);
    if (from == std::ios::cur) base = static_cast<off_type>(position_) - (egptr() - gptr());
    return seekpos(base + offset, mode);
  }

  pos_type seekpos(pos_type position, std::ios_base::openmode) override {
    const auto at = static_cast<off_type>(position);
    if (at < 0 || at > static_cast<off_type>(size_)) return off_type(-1);
    position_ = static_cast<std::size_t>(at);
    setg(nullptr, nullptr, nullptr);
    return position;
  }

  static constexpr std::size_t kBufferBytes = 4096;

  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
  // Offset of what follows the buffer.
  std::size_t position_ = 0;
  std::vector<char> buffer_;
};

inline void put_bytes(std::string& text, std::string_view bytes) {
  const auto size = static_cast<std::uint16_t>(bytes.size());
  text += 'b';
  text.append(reinterpret_cast<const char*>(&size), sizeof(size));
  text += bytes;
}

inline void put_repeated(std::string& text, std::string_view bytes, std::uint32_t times) {
  text += 'r';
  text += static_cast<char>(bytes.size());
  text += bytes;
  text.append(reinterpret_cast<const char*>(&times), sizeof(times));
}

}  // namespace verbatim::fuzz
