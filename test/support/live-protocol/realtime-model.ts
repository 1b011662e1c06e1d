/**
 * What the events of one of OpenAI's transcription sessions may be, and in which order, whatever its client does. It
 * knows what the client has sent, and of the audio only that its text names it (SpokenEngine).
 */
import { expect } from 'chai';
import type { SocketEvent } from '../socket-client.js';
import { wordsOf, WORD_SECONDS } from './spoken-engine.js';

const BUFFER = 'input_audio_buffer';
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
export const COMMIT_EMPTY = `${BUFFER}_commit_empty`;

const SHORTEST_SECONDS = 0.1;

/** `wrong`: what is answered with an error. Audio is not listed. */
export interface SentClientEvent {
  kind: 'update' | 'clear' | 'commit' | 'wrong';
  /** null: it cannot have one. */
  id: string | null;
}

export interface RealtimeNames {
  created: string;
  updated: string;
  itemEvents: readonly string[];
}

interface Item {
  isAnnounced: boolean;
  startMs: number;
  endMs: number;
  isStopped: boolean;
  /** The events that follow its commit at once, and have not come. */
  missing: string[];
  isCommitted: boolean;
  isOver: boolean;
  transcript: string;
}

export class RealtimeModel {
  readonly #items = new Map<string, Item>();
  readonly #committed: string[] = [];
  readonly #ids = new Set<string>();
  /** Of the sent events: those before it were answered, where they are answered in order. */
  #answered = 0;
  #completed = 0;
  #cleared = 0;
  #emptyCommits = 0;
  #failed = 0;
  #isCreated = false;
  /** The item that was announced and has not been stopped or abandoned. */
  #running: string | null = null;
  /** That of the last commit, until all its events are there. */
  #begun: string | null = null;
  #lastEndMs = 0;
  #lastWord = -1;
  #gaps = 0;

  constructor(
    private readonly names: RealtimeNames,
    private readonly sent: readonly SentClientEvent[],
  ) {}

  /** Throws where the event may not come now. */
  receive(event: SocketEvent): void {
    expect(this.#ids.has(String(event['event_id'])), 'its id is new').to.equal(false);
    this.#ids.add(String(event['event_id']));
    expect(event.type === this.names.created, 'the session is created first, once').to.equal(!this.#isCreated);
    this.#isCreated = true;
    if (this.#begun !== null) this.#itemEvent(this.#begun, event);
    else if (event.type === this.names.updated) this.#answer('update', null);
    else if (event.type !== this.names.created) {
      const handler = HANDLERS[event.type];
      if (handler === undefined) throw new Error(`There is no event ${event.type}.`);
      handler(this, event);
    }
  }

  /** Throws where the client was not answered. `coversAll`: whether all its audio is to have its words. */
  finish({ coversAll, seconds }: { coversAll: boolean; seconds: number }): void {
    const count = (kind: SentClientEvent['kind']): number => this.sent.filter((event) => event.kind === kind).length;
    expect(this.#cleared, 'events of buffers that were cleared').to.equal(count('clear'));
    const left = this.sent.slice(this.#answered).filter(({ kind }) => kind === 'update' || kind === 'wrong');
    expect(left, 'events without an answer').to.deep.equal([]);
    expect(this.#completed, 'items that are over').to.equal(this.#committed.length);
    expect(this.#running, 'an item without an end').to.equal(null);
    expect(this.#emptyCommits + this.#committed.length, 'answers to commits').to.be.at.least(count('commit'));
    if (!coversAll || this.#failed > 0) return;
    expect(this.#gaps, 'words that are missing between items').to.equal(0);
    // What is too short to be committed at the end has none.
    const last = Math.ceil((seconds - SHORTEST_SECONDS) / WORD_SECONDS) - 1;
    expect(this.#lastWord, 'the last word').to.be.at.least(Math.max(-1, last));
  }

  speechStarted({ item_id: id, audio_start_ms: start }: SocketEvent): void {
    expect(this.#running, 'the item that runs').to.equal(null);
    expect(this.#items.has(String(id)), 'the item is known').to.equal(false);
    expect(Number(start)).to.be.at.least(this.#lastEndMs - 1);
    this.#running = String(id);
    this.#items.set(String(id), newItem(true, Number(start)));
  }

  speechStopped({ item_id: id, audio_end_ms: end }: SocketEvent): void {
    expect(id, 'the item that stops').to.equal(this.#running);
    const item = this.#item(id);
    expect(item.isStopped).to.equal(false);
    expect(Number(end)).to.be.at.least(item.startMs);
    Object.assign(item, { isStopped: true, endMs: Number(end) });
    this.#lastEndMs = Number(end);
  }

  committed({ item_id: id, previous_item_id: previous }: SocketEvent): void {
    if (!this.#items.has(String(id))) this.#items.set(String(id), newItem(false, 0));
    const item = this.#item(id);
    expect(item.isStopped, 'a stop before its commit').to.equal(item.isAnnounced);
    expect(item.isCommitted || item.isOver, 'a commit too many').to.equal(false);
    expect(previous).to.equal(this.#committed.at(-1) ?? null);
    if (item.isAnnounced) this.#running = null;
    Object.assign(item, { isCommitted: true, missing: [...this.names.itemEvents] });
    this.#committed.push(String(id));
    this.#begun = String(id);
  }

  cleared(): void {
    this.#cleared += 1;
    expect(this.#cleared).to.be.at.most(this.sent.filter(({ kind }) => kind === 'clear').length);
    for (const item of this.#items.values()) if (!item.isCommitted) item.isOver = true;
    this.#running = null;
  }

  delta({ item_id: id, delta, content_index: index }: SocketEvent): void {
    // Of one that was not announced, it may be the first event.
    if (!this.#items.has(String(id))) this.#items.set(String(id), newItem(false, 0));
    const item = this.#item(id);
    expect(item.isOver, 'a delta of an item that is over').to.equal(false);
    expect(delta).to.be.a('string').that.is.not.equal('');
    expect(index).to.equal(0);
    item.transcript += String(delta);
  }

  completed(event: SocketEvent): void {
    const { transcript, usage } = event;
    const item = this.#end(event);
    expect(item.transcript, 'deltas, joined').to.equal(transcript);
    const { type, seconds } = usage as { type: string; seconds: number };
    expect(type).to.equal('duration');
    expect(seconds).to.be.at.least(0);
    const words = wordsOf(String(transcript));
    for (const [index, word] of words.entries()) {
      if (index > 0) expect(word, `a word behind w${words[index - 1]}`).to.equal(words[index - 1]! + 1);
    }
    if (words.length === 0) return;
    expect(words[0], `a first word behind w${this.#lastWord}`).to.be.above(this.#lastWord);
    this.#gaps += words[0]! - this.#lastWord - 1;
    this.#lastWord = words.at(-1)!;
    if (!item.isAnnounced) return;
    const last = words.at(-1)! * WORD_SECONDS * 1000;
    expect(words[0]! * WORD_SECONDS * 1000).to.be.at.least(item.startMs - 1);
    expect(last).to.be.at.most(item.endMs + 1);
  }

  failed(event: SocketEvent): void {
    this.#failed += 1;
    this.#end(event);
    expect(event['error']).to.include.keys('type', 'code', 'message', 'param');
  }

  error({ error }: SocketEvent): void {
    const { code, event_id: id, message } = error as { code: string; event_id: string | null; message: string };
    expect(message).to.be.a('string').that.is.not.equal('');
    if (code !== COMMIT_EMPTY) this.#answer('wrong', id);
    else {
      this.#emptyCommits += 1;
      // Otherwise it comes when the audio before was worked on.
      if (id !== null) this.#answer('commit', id);
    }
  }

  /** Of what is answered in its order; a commit may be answered otherwise. */
  #answer(kind: SentClientEvent['kind'], id: string | null): void {
    const isIt = (event: SentClientEvent): boolean => event.kind === kind && (kind === 'update' || event.id === id);
    const at = this.sent.findIndex((event, index) => index >= this.#answered && isIt(event));
    expect(at, `an answer to ${kind} ${id ?? ''}`).to.be.at.least(0);
    const passed = this.sent
      .slice(this.#answered, at)
      .filter((event) => event.kind === 'update' || event.kind === 'wrong');
    expect(passed, 'events that were not answered in their order').to.deep.equal([]);
    this.#answered = at + 1;
  }

  #itemEvent(id: string, { type, item, previous_item_id: previous }: SocketEvent): void {
    const about = this.#item(id);
    expect(type).to.equal(about.missing.shift());
    expect(item).to.include({ id, object: 'realtime.item', type: 'message', role: 'user', status: 'completed' });
    expect(previous).to.equal(this.#committed.at(-2) ?? null);
    if (about.missing.length === 0) this.#begun = null;
  }

  #end({ item_id: id }: SocketEvent): Item {
    expect(id, 'the next item in the order of commits').to.equal(this.#committed[this.#completed]);
    this.#completed += 1;
    const item = this.#item(id);
    expect(item.isOver).to.equal(false);
    item.isOver = true;
    return item;
  }

  #item(id: unknown): Item {
    const item = this.#items.get(String(id));
    if (item === undefined) throw new Error(`There is no item ${String(id)}.`);
    return item;
  }
}

type Handler = (model: RealtimeModel, event: SocketEvent) => void;

const HANDLERS: Readonly<Record<string, Handler>> = {
  [`${BUFFER}.speech_started`]: (model, event) => model.speechStarted(event),
  [`${BUFFER}.speech_stopped`]: (model, event) => model.speechStopped(event),
  [`${BUFFER}.committed`]: (model, event) => model.committed(event),
  [`${BUFFER}.cleared`]: (model) => model.cleared(),
  [`${TRANSCRIPTION}.delta`]: (model, event) => model.delta(event),
  [`${TRANSCRIPTION}.completed`]: (model, event) => model.completed(event),
  [`${TRANSCRIPTION}.failed`]: (model, event) => model.failed(event),
  error: (model, event) => model.error(event),
};

function newItem(isAnnounced: boolean, startMs: number): Item {
  return {
    ...{ isAnnounced, startMs, endMs: 0, isStopped: false, missing: [], isCommitted: false, isOver: false },
    transcript: '',
  };
}
