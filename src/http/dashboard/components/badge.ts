import { html, type Html } from '../html.js';

/** neutral: over; information: at work; good: done or in use; warning: look at it; bad: failed. */
export type Tone = 'neutral' | 'information' | 'good' | 'warning' | 'bad';

/** A state in a word: the colour says nothing that the word does not. */
export function badge(text: string, tone: Tone = 'neutral'): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}
