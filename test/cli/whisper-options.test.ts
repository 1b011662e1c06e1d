import { expect } from 'chai';
import { inOurSpelling, modelName, OUTPUT_FORMATS, filesOf } from '../../src/cli/whisper-options.js';
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
      /--fp16 is an option of whisper.*VERBATIM_COMPUTE/,
    );
    expect(() => inOurSpelling(['--device=cuda'])).to.throw(/--device .*VERBATIM_DEVICE/);
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
