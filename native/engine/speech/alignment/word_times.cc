#include "speech/alignment/word_times.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "audio/sample_rate.h"
#include "speech/alignment/characters.h"
#include "speech/alignment/text_words.h"

namespace verbatim::alignment {
namespace {

// The longest usual length of a word in OpenAI's timing.py, and how many times longer a word at the edge of a sentence
// may be.
constexpr double kLongestUsual = 0.7;
constexpr double kMostTimesUsual = 2.0;

double length_of(const Word& word) { return word.end_seconds - word.start_seconds; }

// Number of characters, spaces and punctuation included.
double letters_of(const Word& word) {
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<double>(std::ranges::count_if(word.text, begins));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// How long a word may be at the edge of a sentence.
class UsualLengths {
 public:
  explicit UsualLengths(const std::vector<Word*>& words) {
    std::vector<double> lengths, by_letter;
    for (const Word* word : words) {
      const double length = length_of(*word);
      if (!(length > 0.0)) continue;
      lengths.push_back(length);
      by_letter.push_back(length / letters_of(*word));
    }
    word_ = std::min(median(std::move(lengths)), kLongestUsual);
    letter_ = median(std::move(by_letter));
  }

  double most(const Word& word) const {
    return kMostTimesUsual * std::max(word_, std::min(letter_ * letters_of(word), kLongestUsual));
  }

 private:
  double word_ = 0.0;
  double letter_ = 0.0;
};

void cut_at_sentences(std::vector<Segment>& segments, const UsualLengths& usual) {
  bool begins = true;
  for (Segment& segment : segments) {
    for (Word& word : segment.words) {
      const bool ends = &word == &segment.words.back();
      if (begins && length_of(word) > usual.most(word)) {
        word.start_seconds = word.end_seconds - usual.most(word);
      } else if (ends && length_of(word) > usual.most(word)) {
        word.end_seconds = word.start_seconds + usual.most(word);
      }
      begins = ends || ends_sentence(word.text);
    }
  }
}

struct Span {
  double begin;
  double end;
};

// The gaps between stretches of speech, with those before the first and behind the last.
std::vector<Span> gaps_of(std::span<const SpeechSpan> speech, double seconds) {
  const auto to_seconds = [](std::size_t sample) { return static_cast<double>(sample) / kSampleRate; };
  std::vector<Span> gaps;
  double at = 0.0;
  for (const SpeechSpan& span : speech) {
    if (to_seconds(span.begin) > at) gaps.push_back({at, to_seconds(span.begin)});
    at = std::max(at, to_seconds(span.end));
  }
  if (at < seconds) gaps.push_back({at, seconds});
  return gaps;
}

// A word border moves to a pause at most this far away: in seconds for a pause of any length, and as a multiple of the
// pause's length.
constexpr double kReach = 0.3;
constexpr double kReachByLength = 2.0;

// Each gap between stretches of speech takes the nearest word border, if one is close enough and no other gap has taken
// it.
void take_gaps(const std::vector<Word*>& words, const std::vector<Span>& gaps, double seconds) {
  std::size_t free = 1;
  for (const Span& gap : gaps) {
    if (gap.begin <= 0.0 || gap.end >= seconds) continue;
    double reach = std::min(kReach, kReachByLength * (gap.end - gap.begin));
    std::size_t nearest = words.size();
    for (std::size_t i = free; i < words.size(); ++i) {
      const double start = words[i]->start_seconds;
      const double distance = std::max({0.0, gap.begin - start, start - gap.end});
      if (distance <= reach) reach = distance, nearest = i;
    }
    if (nearest == words.size()) continue;
    words[nearest - 1]->end_seconds = gap.begin;
    words[nearest]->start_seconds = gap.end;
    free = nearest + 1;
  }
}

void leave_gaps(Word& word, const std::vector<Span>& gaps, double seconds) {
  for (const Span& gap : gaps) {
    // Only the window's end follows the last gap.
    const bool is_last = gap.end >= seconds;
    const bool starts_in = word.start_seconds >= gap.begin && (is_last || word.start_seconds < gap.end);
    const bool ends_in = (starts_in || word.end_seconds > gap.begin) && word.end_seconds <= gap.end;
    if (starts_in && ends_in) {
      const bool back = is_last || (gap.begin > 0.0 && word.start_seconds - gap.begin < gap.end - word.end_seconds);
      word.start_seconds = word.end_seconds = back ? gap.begin : gap.end;
      return;
    }
    if (starts_in) word.start_seconds = gap.end;
    if (ends_in) word.end_seconds = gap.begin;
  }
}

void put_in_order(const std::vector<Word*>& words, double seconds) {
  double at = 0.0;
  for (Word* word : words) {
    word->start_seconds = std::clamp(word->start_seconds, at, seconds);
    word->end_seconds = std::clamp(word->end_seconds, word->start_seconds, seconds);
    at = word->end_seconds;
  }
}

}  // namespace

std::vector<Word> make_words(std::span<const Token> tokens, std::span<const double> starts, bool spaced) {
  std::vector<std::string_view> texts;
  for (const Token& token : tokens) texts.push_back(token.text);
  std::vector<Word> words;
  for (TextWord& cut : cut_words(texts, spaced)) {
    float sum = 0.0f;
    for (std::size_t i = cut.first; i < cut.last; ++i) sum += tokens[i].probability;
    words.push_back(
        {std::move(cut.text), starts[cut.first], starts[cut.last], sum / static_cast<float>(cut.last - cut.first)});
  }
  return words;
}

void place_words(std::vector<Segment>& segments, std::span<const SpeechSpan> speech, double seconds) {
  std::vector<Word*> words;
  for (Segment& segment : segments) {
    for (Word& word : segment.words) words.push_back(&word);
  }
  put_in_order(words, seconds);
  cut_at_sentences(segments, UsualLengths(words));
  if (!speech.empty()) {
    const std::vector<Span> gaps = gaps_of(speech, seconds);
    take_gaps(words, gaps, seconds);
    for (Word* word : words) leave_gaps(*word, gaps, seconds);
    put_in_order(words, seconds);
  }
  for (Segment& segment : segments) {
    if (segment.words.empty()) continue;
    segment.start_seconds = segment.words.front().start_seconds;
    segment.end_seconds = segment.words.back().end_seconds;
  }
}

}  // namespace verbatim::alignment
