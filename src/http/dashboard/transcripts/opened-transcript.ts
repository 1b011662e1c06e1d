import type { KeptTranscript } from '../../../library/document.js';
import type { HtmlValue } from '../html.js';

/** A transcript on its page. */
export interface OpenedTranscript extends KeptTranscript {
  notice: HtmlValue;
  /** Whether the translation is shown beside the text. */
  showsTranslation: boolean;
  /** Beside the fields of a form that was refused. */
  error?: { field: string; message: string };
}
