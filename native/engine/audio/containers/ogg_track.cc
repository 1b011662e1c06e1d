// RFC 3533 (Ogg), RFC 7845 (Opus in Ogg), RFC 9639 section 10.1 (FLAC in Ogg).
//
// This code walks the pages for three purposes: to split chained streams, to find the audio among several streams, and
// to remove positions that run backwards, which libsndfile's Opus reader would trust. libsndfile then reads Vorbis and
// Opus page by page. FLAC is extracted from its pages, because libsndfile 1.2 does not open the files of common muxers.
#include <algorithm>
#include <array>
#include <utility>

#include "audio/containers/flac_header.h"
#include "audio/containers/ogg_page.h"
#include "audio/containers/tracks.h"
#include "audio/containers/vorbis_headers.h"
#include "audio/decoding/decoder.h"
#include "audio/decoding/fixed_length_decoder.h"
#include "audio/decoding/sndfile_decoder.h"
#include "error.h"

namespace verbatim {
namespace {

struct Codec {
  std::string_view magic;
  std::string_view name;
  // Longest packet, in units of the granule position.
  std::int64_t packet_length;
};
constexpr std::array<Codec, 3> kCodecs = {{
    {"\001vorbis", "vorbis", 8192},
    {"OpusHead", "opus", 5760},
    {"\177FLAC", "flac", 65536},
}};

// Larger than in any real stream: 2^48 samples are 185 years at 48 kHz.
constexpr std::int64_t kLastGranule = std::int64_t{1} << 48;
// Most FLAC pages whose ranges are kept: 16 MB.
constexpr std::size_t kMostRanges = 1 << 20;

// One link of a chain: the first audio stream in it.
struct Link {
  const Codec* codec = nullptr;
  OggPage first;
  std::int64_t end = 0;
  std::int64_t packets = 0;
  // Vorbis only.
  VorbisHeaders headers;
  // FLAC only: the bodies of the pages with frames.
  std::vector<ByteRange> frames;
};

class OggTrack final : public Track {
 public:
  explicit OggTrack(ByteSource bytes) : bytes_(bytes), scanner_(std::move(bytes)), page_(scanner_.next()) {
    if (!page_) throw EngineError(ErrorCode::kInvalidAudio, "the OGG file holds no whole page");
  }

  std::unique_ptr<Decoder> next() override {
    while (page_) {
      Link link = walk_link();
      if (link.codec != nullptr) return open(std::move(link));
      found_other_ = true;
    }
    if (std::exchange(found_other_, false) && !found_audio_) {
      throw EngineError(ErrorCode::kUnsupportedAudioFormat, "the OGG file holds no Vorbis, Opus or FLAC audio");
    }
    return nullptr;
  }

 private:
  std::unique_ptr<Decoder> open(Link link) {
    found_audio_ = true;
    if (link.codec->name == "flac") return open_flac_stream(std::move(link));
    if (link.codec->name == "vorbis" && !link.headers.whole()) {
      throw EngineError(ErrorCode::kInvalidAudio, "the OGG file's Vorbis headers are broken or incomplete");
    }
    SndfileInput input;
    input.ranges = {{link.first.offset, link.end}};
    auto decoder =
        std::make_unique<SndfileDecoder>(bytes_.file(), std::move(input), "ogg", std::string(link.codec->name));
    // Positions that the packets cannot explain are invalid; then only decoding finds the length.
    const std::int64_t frames = decoder->expected_frames();
    if (frames > link.packets * link.codec->packet_length) return decoder;
    return std::make_unique<FixedLengthDecoder>(std::move(decoder), frames);
  }

  std::unique_ptr<Decoder> open_flac_stream(Link link) {
    // Marker, version, number of headers, native marker, block header.
    constexpr std::int64_t kBeforeStreamInfo = 5 + 2 + 2 + 4 + 4;
    const auto block = bytes_.view(link.first.body + kBeforeStreamInfo, FlacStreamInfo::kBytes);
    if (block.size() < FlacStreamInfo::kBytes || link.frames.empty()) {
      throw EngineError(ErrorCode::kInvalidAudio, "the OGG file holds no FLAC frames");
    }
    const FlacStreamInfo info(block.first<FlacStreamInfo::kBytes>());
    check_format(info.sample_rate(), info.channels());
    SndfileInput input;
    input.head = info.clean_header();
    input.ranges = std::move(link.frames);
    return std::make_unique<SndfileDecoder>(bytes_.file(), std::move(input), "ogg", "flac");
  }

  const Codec* codec_of(const OggPage& page) {
    const auto found =
        std::ranges::find_if(kCodecs, [&](const Codec& codec) { return bytes_.matches(page.body, codec.magic); });
    return found == kCodecs.end() ? nullptr : &*found;
  }

  // Reads from the pages that begin streams to the next such pages. page_ is the first of those afterwards.
  Link walk_link() {
    Link link;
    bool heads = true;
    std::int64_t granule = 0;
    for (; page_ && (heads || !page_->begins_stream); page_ = scanner_.next()) {
      heads = heads && page_->begins_stream;
      if (link.codec == nullptr && page_->begins_stream) {
        link.codec = codec_of(*page_);
        link.first = *page_;
        link.end = page_->end();
        link.headers.begin(*page_, body_of(*page_));
      } else if (link.codec != nullptr && page_->serial == link.first.serial) {
        const bool backwards = page_->granule != -1 && page_->granule < granule;
        if (backwards || page_->granule > kLastGranule) {
          skip_link();
          break;
        }
        granule = std::max(granule, page_->granule);
        add_page(link);
      }
    }
    return link;
  }

  std::span<const std::uint8_t> body_of(const OggPage& page) {
    return bytes_.view(page.body, static_cast<std::size_t>(page.end() - page.body));
  }

  void add_page(Link& link) {
    link.end = page_->end();
    link.packets += page_->packets;
    link.headers.add(*page_);
    if (link.codec->name != "flac") return;
    const bool begun = !link.frames.empty();
    if (begun || is_flac_frame_header(bytes_.view(page_->body, kLongestFlacFrameHeader))) {
      if (link.frames.size() < kMostRanges) link.frames.push_back({page_->body, page_->end()});
    }
  }

  // Skips what follows a position that runs backwards, up to the next link.
  void skip_link() {
    while (page_ && !page_->begins_stream) page_ = scanner_.next();
  }

  ByteSource bytes_;
  OggScanner scanner_;
  std::optional<OggPage> page_;
  bool found_audio_ = false;
  bool found_other_ = false;
};

}  // namespace

std::unique_ptr<Track> open_ogg(const ByteSource& bytes) { return std::make_unique<OggTrack>(bytes); }

}  // namespace verbatim
