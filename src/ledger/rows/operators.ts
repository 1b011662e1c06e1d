import { MOST_SUBJECT_CHARACTERS, type NotedAction } from '../operators.js';
import { toIso } from '../time.js';

export interface NotedActionRow {
  id: number;
  operator_id: string;
  email: string | null;
  action: string;
  subject: string | null;
  created_at: number;
}

export function toNotedAction(row: NotedActionRow): NotedAction {
  const { id, operator_id, email, action, subject, created_at } = row;
  return { id: String(id), at: toIso(created_at), operatorId: operator_id, email, action, subject };
}

export const keptSubject = (subject: string | null): string | null =>
  subject === null ? null : Array.from(subject).slice(0, MOST_SUBJECT_CHARACTERS).join('');
