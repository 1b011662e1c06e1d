import { expect } from 'chai';
import { inOurSpelling, modelName, OUTPUT_FORMATS, filesOf } from '../../src/cli/whisper-options.js';
import { createProgram } from '../../src/cli/program.js';
import { EXTENSIONS } from '../../src/cli/rendered-transcript.js';

describe('The options of whisper', () => {
  it('are taken in their spelling', () => {
    const theirs = ['--output_dir', 'a_b', '--output_format=srt', '--word_timestamps', 'True', '--min_speakers', '2'];
    const ours = ['--output-dir', 'a_b', '--output-format=srt', '--word-timestamps', 'True', '--min-speakers', '2'];
    expect(inOurSpelling(theirs)).to.deep.equal(ours);
    expect(inOurSpelling(ours)).to.deep.equal(ours);
  });

  it('are files behind "--"', () => {
    const words = ['--model', 'base', '--', '--output_dir', '--fp16'];
    expect(inOurSpelling(words)).to.deep.equal(words);
  });

  it('are refused with what to use in their place', () => {
    expect(() => inOurSpelling(['a.wav', '--fp16', 'False'])).to.throw(
      /--fp16 .* is an option of whisper .*VERBATIM_COMPUTE/,
    );
    expect(() => inOurSpelling(['--device=cuda'])).to.throw(/--device .*VERBATIM_DEVICE/);
    expect(() => inOurSpelling(['--beam-size', '5'])).to.throw(
      '--beam-size (the beam size) is an option of whisper that verbatim transcribe does not ' +
        'have. Leave it out: texts are decoded greedily',
    );
    expect(() => inOurSpelling(['--hf_token', 'x'])).to.throw(/option of whisperx .*HF_TOKEN/);
  });

  it('are all known: each is an option of ours, or refused with a sentence', () => {
    const command = createProgram().commands.find((one) => one.name() === 'transcribe');
    const ours = command?.options.map(({ long }) => long) ?? [];
    const taken = [...WHISPER.split(' '), ...WHISPERX.split(' ')].filter((name) => {
      try {
        const [spelling] = inOurSpelling([name]);
        expect(ours).to.include(spelling);
        return true;
      } catch (error) {
        const { message } = error as Error;
        expect(message).to.match(new RegExp(`^${name} \\([^()]+\\) is an option of whisperx? that .*\\. .+\\.$`));
        return false;
      }
    });
    expect([...new Set(taken)]).to.deep.equal(
      (
        '--model --output_dir --output_format --task --language --word_timestamps ' +
        '--diarize --min_speakers --max_speakers'
      ).split(' '),
    );
  });

  it('name models and files as ours are named', () => {
    expect(['turbo', 'large', 'base', 'tiny.en'].map(modelName)).to.deep.equal([
      ...['large-v3-turbo', 'large-v3', 'base', 'tiny.en'],
    ]);
    const extensions = OUTPUT_FORMATS.filter((format) => format !== 'all').map((format) =>
      filesOf(format).map(extensionOf),
    );
    expect(extensions).to.deep.equal([['.txt'], ['.srt'], ['.vtt'], ['.json'], ['.tsv']]);
    expect([...filesOf('all')].map(extensionOf).sort()).to.deep.equal(extensions.flat().sort());
  });
});

function extensionOf(format: keyof typeof EXTENSIONS): string {
  return EXTENSIONS[format];
}

/** Of `whisper --help` and `whisperx --help`. */
const WHISPER =
  '--model --model_dir --device --output_dir --output_format --verbose --task --language --temperature --best_of ' +
  '--beam_size --patience --length_penalty --suppress_tokens --initial_prompt --carry_initial_prompt ' +
  '--condition_on_previous_text --fp16 --temperature_increment_on_fallback --compression_ratio_threshold ' +
  '--logprob_threshold --no_speech_threshold --word_timestamps --prepend_punctuations --append_punctuations ' +
  '--highlight_words --max_line_width --max_line_count --max_words_per_line --threads --clip_timestamps ' +
  '--hallucination_silence_threshold';
const WHISPERX =
  '--model --model_cache_only --model_dir --device --device_index --batch_size --compute_type --output_dir ' +
  '--output_format --verbose --log-level --task --language --align_model --interpolate_method --timestamp_sanitize ' +
  '--no_align --return_char_alignments --vad_method --vad_onset --vad_offset --chunk_size --diarize --min_speakers ' +
  '--max_speakers --diarize_model --speaker_embeddings --temperature --best_of --beam_size --patience ' +
  '--length_penalty --suppress_tokens --suppress_numerals --initial_prompt --hotwords --condition_on_previous_text ' +
  '--fp16 --temperature_increment_on_fallback --compression_ratio_threshold --logprob_threshold ' +
  '--no_speech_threshold --max_line_width --max_line_count --highlight_words --segment_resolution --threads ' +
  '--hf_token --print_progress --python-version';
