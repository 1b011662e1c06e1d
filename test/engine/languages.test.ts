import { expect } from 'chai';
import {
  fromWhisperLanguage,
  languageByName,
  normalizeLanguage,
  toWhisperLanguage,
} from '../../src/engine/languages.js';

// whisper.cpp's list (v1.9.1), in its order and spelling.
const WHISPER =
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la ' +
  'mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be ' +
  'tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue';

// Terminological (639-2/T, which is the 639-3) codes of the same languages, in the same order.
const THREE_LETTERS =
  'eng zho deu spa rus kor fra jpn por tur pol cat nld ara swe ita ind hin fin vie heb ukr ell msa ces ron dan ' +
  'hun tam nor tha urd hrv bul lit lat mri mal cym slk tel fas lav ben srp aze slv kan est mkd bre eus isl hye ' +
  'nep mon bos kaz sqi swa glg mar pan sin khm sna yor som afr oci kat bel tgk snd guj amh yid lao uzb fao hat ' +
  'pus tuk nno mlt san ltz mya bod tgl mlg asm tat haw lin hau bak jav sun yue';

// The names of the same languages in openai-whisper's `--language`, in the same order.
const NAMES =
  'english chinese german spanish russian korean french japanese portuguese turkish polish catalan dutch arabic ' +
  'swedish italian indonesian hindi finnish vietnamese hebrew ukrainian greek malay czech romanian danish hungarian ' +
  'tamil norwegian thai urdu croatian bulgarian lithuanian latin maori malayalam welsh slovak telugu persian latvian ' +
  'bengali serbian azerbaijani slovenian kannada estonian macedonian breton basque icelandic armenian nepali ' +
  'mongolian bosnian kazakh albanian swahili galician marathi punjabi sinhala khmer shona yoruba somali afrikaans ' +
  'occitan georgian belarusian tajik sindhi gujarati amharic yiddish lao uzbek faroese haitian_creole pashto turkmen ' +
  'nynorsk maltese sanskrit luxembourgish myanmar tibetan tagalog malagasy assamese tatar hawaiian lingala hausa ' +
  'bashkir javanese sundanese cantonese';

const BIBLIOGRAPHIC: Record<string, string> = {
  alb: 'sq',
  arm: 'hy',
  baq: 'eu',
  bur: 'my',
  chi: 'zh',
  cze: 'cs',
  dut: 'nl',
  fre: 'fr',
  geo: 'ka',
  ger: 'de',
  gre: 'el',
  ice: 'is',
  mac: 'mk',
  mao: 'mi',
  may: 'ms',
  per: 'fa',
  rum: 'ro',
  slo: 'sk',
  tib: 'bo',
  wel: 'cy',
};

const codes = WHISPER.split(' ').map(fromWhisperLanguage);

describe('languages', () => {
  it('keeps every code of Whisper, with the ISO code for Javanese', () => {
    expect(codes).to.have.lengthOf(100);
    expect(codes.map(normalizeLanguage)).to.deep.equal(codes);
    expect(codes).to.include('jv').and.not.to.include('jw');
    expect(codes.map(toWhisperLanguage).join(' ')).to.equal(WHISPER);
  });

  it('knows each by its name, in any case, and by the other names that Whisper takes', () => {
    const names = NAMES.split(' ').map((name) => name.replace('_', ' '));
    expect(names.map(languageByName)).to.deep.equal(codes);
    expect(names.map((name) => languageByName(name.toUpperCase()))).to.deep.equal(codes);
    expect(['Castilian', 'Burmese', 'flemish', 'Māori', 'Mandarin'].map(languageByName)).to.deep.equal([
      ...['es', 'my', 'nl', 'mi', 'zh'],
    ]);
    for (const name of ['', 'en', 'elvish', 'english2', '__proto__']) expect(languageByName(name), name).to.equal(null);
  });

  it('maps the three-letter codes of all of them', () => {
    expect(THREE_LETTERS.split(' ').map(normalizeLanguage)).to.deep.equal(codes);
  });

  it('maps the bibliographic codes', () => {
    for (const [code, expected] of Object.entries(BIBLIOGRAPHIC)) {
      expect(normalizeLanguage(code), code).to.equal(expected);
    }
  });

  it('takes any case and drops region, script and variant', () => {
    for (const spelling of ['en-US', 'EN', 'Eng', 'en_gb', 'ENG-us', ' en ', 'en-Latn-US', 'en-GB-oxendict']) {
      expect(normalizeLanguage(spelling), spelling).to.equal('en');
    }
    expect(normalizeLanguage('zh_Hant')).to.equal('zh');
    expect(normalizeLanguage('sr-Cyrl-RS')).to.equal('sr');
    expect(normalizeLanguage('pt-BR')).to.equal('pt');
  });

  it('maps deprecated codes and members of a macrolanguage to the code in use', () => {
    const expected = { iw: 'he', in: 'id', ji: 'yi', jw: 'jv', nb: 'no', nob: 'no', cmn: 'zh', fil: 'tl' };
    for (const [code, language] of Object.entries(expected)) {
      expect(normalizeLanguage(code), code).to.equal(language);
    }
  });

  it('knows languages that Whisper does not', () => {
    expect(normalizeLanguage('epo')).to.equal('eo');
    expect(normalizeLanguage('ga')).to.equal('ga');
  });

  it('answers null for what is not a language', () => {
    for (const wrong of [
      '',
      'e',
      'xx',
      'qqq',
      'zzz',
      'english',
      'auto',
      'en-',
      '-en',
      'en US',
      'en-US-',
      '12',
      'ast',
    ]) {
      expect(normalizeLanguage(wrong), JSON.stringify(wrong)).to.equal(null);
    }
  });
});
