/** What one check of `verbatim doctor` found. */
export interface Finding {
  /** What was looked at, in one or two words. */
  topic: string;
  /** 'ok': nothing to do. 'advice': it works, and could work better. 'problem': something does not work. */
  state: 'ok' | 'advice' | 'problem';
  found: string;
  /** What to do. null: nothing. */
  remedy: string | null;
}

export function ok(topic: string, found: string): Finding {
  return { topic, state: 'ok', found, remedy: null };
}

export function advice(topic: string, found: string, remedy: string): Finding {
  return { topic, state: 'advice', found, remedy };
}

export function problem(topic: string, found: string, remedy: string): Finding {
  return { topic, state: 'problem', found, remedy };
}
