import { MOST_SUBJECT_CHARACTERS, type NotedAction } from '../operators.js';
import { toIso } from '../time.js';

export interface NotedActionRow {
  id: number;
  operator_id: string | null;
  email: string | null;
  action: string;
  subject: string | null;
  subject_email: string | null;
  detail: string | null;
  outcome: NotedAction['outcome'];
  created_at: number;
}

/** Of both databases, but for how each counts its parameters. */
export const NOTED_ACTIONS = `
  SELECT noted.*, operator.email, about.email AS subject_email
  FROM operator_actions noted
  LEFT JOIN accounts operator ON operator.id = noted.operator_id
  LEFT JOIN accounts about ON about.id = noted.subject`;

export function toNotedAction(row: NotedActionRow): NotedAction {
  const { id, operator_id, email, action, subject, subject_email, detail, outcome, created_at } = row;
  return {
    ...{ id: String(id), at: toIso(created_at), operatorId: operator_id, email },
    ...{ action, subject, subjectEmail: subject_email, detail, outcome },
  };
}

export const keptSubject = (subject: string | null): string | null =>
  subject === null ? null : Array.from(subject).slice(0, MOST_SUBJECT_CHARACTERS).join('');
