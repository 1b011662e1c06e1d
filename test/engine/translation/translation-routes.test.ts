import { expect } from 'chai';
import { TranslationRoutes } from '../../../src/engine/translation/translation-routes.js';

const model = (name: string, from: string, to: string, bundled = false) => ({
  name,
  from: from.split(' '),
  to: to.split(' '),
  bundled,
});

const route = (models: ReturnType<typeof model>[], from: string, to: string): string | null =>
  new TranslationRoutes(models)
    .find(from, to)
    ?.map((hop) => `${hop.model.name}:${hop.from}-${hop.to}`)
    .join(' ') ?? null;

describe('translation routes', () => {
  const bundled = model('small', 'en es de fr', 'en es de fr', true);
  const large = model('large', 'en es de it', 'en es de it');
  const direct = model('opus-es-de', 'es', 'de');
  const intoEnglish = model('opus-it-en', 'it', 'en');
  const fromEnglish = model('opus-en-ja', 'en', 'ja');

  it('prefer a direct model, then a multilingual one that was installed, then the bundled one', () => {
    expect(route([bundled, large, direct], 'es', 'de')).to.equal('opus-es-de:es-de');
    expect(route([bundled, large, direct], 'de', 'es')).to.equal('large:de-es');
    expect(route([bundled, direct], 'fr', 'es')).to.equal('small:fr-es');
  });

  it('pivot through English when both halves are there', () => {
    expect(route([intoEnglish, fromEnglish], 'it', 'ja')).to.equal('opus-it-en:it-en opus-en-ja:en-ja');
    expect(route([bundled, fromEnglish], 'fr', 'ja')).to.equal('small:fr-en opus-en-ja:en-ja');
    expect(route([intoEnglish], 'it', 'ja')).to.equal(null);
    expect(route([fromEnglish], 'it', 'ja')).to.equal(null);
  });

  it('never go around a pair with English itself, nor from a language to itself', () => {
    expect(route([direct, intoEnglish], 'es', 'en')).to.equal(null);
    expect(route([bundled], 'en', 'en')).to.equal(null);
    expect(route([], 'es', 'de')).to.equal(null);
  });
});
