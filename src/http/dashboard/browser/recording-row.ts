/** A recording in the list: its name, its state in words, how far it is, and what can be done with it. */
import { filledIn, write, type Texts } from './page-parts.js';
import { isAtWork, type ChosenRecording } from './recordings.js';

export interface RowActions {
  show: (recording: ChosenRecording) => void;
  /** Cancels what is at work; takes anything else off the list. */
  end: (recording: ChosenRecording) => void;
}

export interface RecordingRow {
  element: HTMLLIElement;
  draw: (isShown: boolean) => void;
}

export function rowOf(recording: ChosenRecording, texts: Texts, actions: RowActions): RecordingRow {
  const { name } = recording.file;
  const element = document.createElement('li');
  const title = document.createElement('button');
  const state = document.createElement('span');
  const bar = document.createElement('progress');
  const end = document.createElement('button');
  title.type = end.type = 'button';
  title.className = 'quiet recording-name';
  title.dir = 'auto';
  title.textContent = name;
  title.addEventListener('click', () => actions.show(recording));
  state.className = 'state hint';
  bar.setAttribute('aria-label', filledIn(texts, 'progressOf', { name }));
  end.className = 'secondary end';
  end.addEventListener('click', () => actions.end(recording));
  element.append(title, end, state, bar);
  return {
    element,
    draw: (isShown) => {
      const atWork = isAtWork(recording);
      element.className = `recording ${recording.state}`;
      title.setAttribute('aria-pressed', String(isShown));
      write(state, stateText(recording, texts));
      bar.hidden = !atWork || recording.state === 'queued';
      if (recording.share === null) bar.removeAttribute('value');
      else bar.value = recording.share;
      write(end, texts[atWork ? 'cancel' : 'remove'] ?? '');
      end.setAttribute('aria-label', filledIn(texts, atWork ? 'cancelThe' : 'removeThe', { name }));
    },
  };
}

function stateText(recording: ChosenRecording, texts: Texts): string {
  const { state, estimate, measured, share, etaSeconds, answer, message } = recording;
  const percent = share === null ? '' : filledIn(texts, 'percent', { percent: Math.floor(100 * share) });
  switch (state) {
    case 'ready':
      return estimate === null ? '' : filledIn(texts, 'seconds', { seconds: (measured ?? estimate).toFixed(1) });
    case 'uploading':
      return `${texts['uploading'] ?? ''} ${percent}`;
    case 'working': {
      const left = etaSeconds === null ? '' : ` · ${filledIn(texts, 'left', { seconds: Math.ceil(etaSeconds) })}`;
      return percent + left;
    }
    case 'done':
      return filledIn(texts, 'spent', { credits: answer?.transcription.credits_used ?? 0 });
    case 'failed':
      return message === '' ? (texts['broken'] ?? '') : message;
    case 'cancelled':
      return texts['wasCancelled'] ?? '';
    case 'queued':
    case 'waiting':
    case 'finishing':
      return texts[state] ?? '';
  }
}
