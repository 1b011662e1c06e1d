import { toast } from './components/toast.js';
import type { Html, HtmlValue } from './html.js';
import { TEXTS, type Notice } from './texts.js';

/**
 * The result of the action on the page before, by its name in the address; unknown names show nothing. `undo`: a form
 * that takes the action back.
 */
export function noticeOf(name: unknown, undo: HtmlValue = null): Html | null {
  if (typeof name !== 'string' || !Object.hasOwn(TEXTS.notices, name)) return null;
  return toast(TEXTS.notices[name as Notice], undo);
}
