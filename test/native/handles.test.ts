/** Nothing that JavaScript does to a handle may crash the process. */
import { expect } from 'chai';
import type { AudioReader, AudioWindow, Slot, SpeechModel } from '../../src/engine/binding.js';
import { binding, failure, firstWindow, loadModel, POLICY, samplePath, windowOf } from './support.js';

describe('Addon: handles', () => {
  let reader: AudioReader;
  let window: AudioWindow;
  let model: SpeechModel;
  let slot: Slot;

  before(async () => {
    reader = await binding.openAudio(samplePath('en-wav16.wav'), POLICY);
    window = await firstWindow(samplePath('en-wav16.wav'));
    model = await loadModel();
    slot = await model.createSlot({ threads: 1 });
  });

  after(() => {
    reader.close();
    slot.close();
    model.close();
  });

  const impostors = (): unknown[] => [
    {},
    [],
    () => null,
    null,
    undefined,
    7,
    'window',
    Symbol('window'),
    Object.create(window),
    new Proxy(window, {}),
    structuredClone({ ...window }),
    reader,
    model,
    slot,
    binding,
  ];

  it('a call on another `this` is a TypeError', async () => {
    const methods: [object, string, unknown][] = [
      [slot, 'transcribe', slot],
      [slot, 'close', slot],
      [reader, 'measure', reader],
      [reader, 'nextWindow', reader],
      [reader, 'close', reader],
      [model, 'createSlot', model],
      [model, 'close', model],
      [window, 'release', window],
    ];
    for (const [object, name, self] of methods) {
      const method = Reflect.get(object, name) as (...args: unknown[]) => unknown;
      for (const impostor of [...impostors(), window].filter((other) => other !== self)) {
        const error = await failure(() => Reflect.apply(method, impostor, [window, { language: 'en' }]));
        expect(error, `${name} on ${typeof impostor}`).to.be.instanceOf(TypeError);
      }
    }
    for (const getter of ['positionSeconds', 'measuredSeconds']) {
      for (const impostor of [{}, slot, Object.create(reader)]) {
        expect(() => Reflect.get(Object.getPrototypeOf(reader) as object, getter, impostor) as unknown).to.throw(
          TypeError,
        );
      }
    }
  });

  it('anything else where a window is expected is a TypeError', async () => {
    for (const impostor of impostors()) {
      const error = await failure(slot.transcribe(impostor as AudioWindow, { language: 'en' }));
      expect(error).to.be.instanceOf(TypeError).and.include({ code: 'invalid_argument' });
      expect(error.message).to.equal('window must be an object of the class AudioWindow.');
    }
  });

  it('cannot be constructed by JavaScript', () => {
    for (const handle of [reader, window, model, slot]) {
      const { constructor } = handle;
      class Derived extends (constructor as new () => object) {}
      expect(() => Reflect.construct(constructor, []) as unknown).to.throw(TypeError, 'no public constructor');
      expect(() => Reflect.construct(constructor, [window]) as unknown).to.throw(TypeError);
      expect(() => new Derived()).to.throw(TypeError, 'no public constructor');
      expect(() => Reflect.apply(constructor, handle, []) as unknown).to.throw(TypeError);
    }
  });

  it('have their names', () => {
    const names = [reader, window, model, slot].map((handle) => handle.constructor.name);
    expect(names).to.deep.equal(['AudioReader', 'AudioWindow', 'SpeechModel', 'Slot']);
  });

  it('take getters that throw, and calls that close them from within', async () => {
    const trap = await binding.openAudio(samplePath('en-wav16.wav'), POLICY);
    const own = await model.createSlot({ threads: 1 });
    const clip = await windowOf(trap);
    const options = {
      get language(): string {
        own.close();
        clip.release();
        return 'en';
      },
    };
    expect(await failure(own.transcribe(clip, options))).to.include({ code: 'invalid_argument' });
    const throwing = {
      get language(): string {
        throw new RangeError('mine');
      },
    };
    expect(await failure(slot.transcribe(window, throwing)))
      .to.be.instanceOf(RangeError)
      .and.include({ message: 'mine' });
    trap.close();
  });
});
