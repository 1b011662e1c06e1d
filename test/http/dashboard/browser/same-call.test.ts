import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { callCode, type CodedCall } from '../../../../src/http/dashboard/browser/same-call.js';

const NOTES = { translation: 'no such translation', fields: 'no field for {fields}' };
const ALL = {
  ...{ model: 'base', language: 'es', translate_to: 'de', diarize: 'true', num_speakers: '2' },
  ...{ prompt: `"Ada", it's \\ $HOME`, punctuate: 'false' },
};

describe('dashboard: the same call', () => {
  const code = (call: Partial<CodedCall> = {}) =>
    callCode({ origin: 'http://127.0.0.1:8080', fileName: 'talk.wav', fields: {}, ...call }, NOTES);

  /** The words that a shell makes of it. */
  function words(line: string): string[] {
    const output = execFileSync('sh', ['-c', line.replace(/^curl/, `printf '%s\\0'`)], {
      env: { VERBATIM_API_KEY: 'vb_key', HOME: '/home/x' },
    });
    return output.toString().split('\0').slice(0, -1);
  }

  it('is a line of curl that a shell reads as it was meant', () => {
    expect(words(code().curl)).to.deep.equal([
      'http://127.0.0.1:8080/api/v1/transcribe',
      ...['-H', 'Authorization: Bearer vb_key', '-F', 'audio=@talk.wav'],
    ]);
    const fields = words(code({ fields: ALL }).curl).filter((word) => word.includes('='));
    expect(fields.slice(1)).to.deep.equal(Object.entries(ALL).map(([name, value]) => `${name}=${value}`));
  });

  it('quotes the names of files for the shell and for curl', () => {
    expect(words(code({ fileName: `a "b" \\c; it's.wav` }).curl).at(-1)).to.equal(
      String.raw`audio=@"a \"b\" \\c; it's.wav"`,
    );
  });

  it('is Python and JavaScript with OpenAI’s names, and says what they have no field for', () => {
    const { python, javascript } = code({ fields: ALL });
    expect(python).to.contain('base_url="http://127.0.0.1:8080/v1"').and.to.contain('os.environ["VERBATIM_API_KEY"]');
    expect(python).to.contain('client.audio.transcriptions.create(').and.to.contain('response_format="diarized_json"');
    expect(python).to.contain(`prompt=${JSON.stringify(ALL.prompt)}`);
    expect(python.split('\n').slice(0, 2)).to.deep.equal([
      '# no such translation',
      '# no field for punctuate, num_speakers',
    ]);
    expect(javascript).to.contain('model: "base"').and.to.contain('// no such translation');
    expect(code().python).to.contain('model="whisper-1"').and.not.to.contain('#');
  });

  it('is OpenAI’s translation where the target is English', () => {
    const { python } = code({ fields: { translate_to: 'en', language: 'es', diarize: 'true' } });
    expect(python).to.contain('client.audio.translations.create(').and.not.to.contain('language="es"');
    expect(python).to.contain('# no field for language, diarize');
    const spoken = code({ fields: { translate_to: 'en', language: 'en' } });
    expect(spoken.javascript).to.contain('transcriptions.create');
  });

  it('is our client’s call, with values of its types', () => {
    const { client } = code({ fields: ALL });
    for (const line of ['translateTo: "de"', 'diarize: true', 'numSpeakers: 2', 'punctuate: false', 'model: "base"']) {
      expect(client).to.contain(`  ${line},`);
    }
  });
});
