/** Which speech model serves, and how another takes its place. */
export interface ModelSwitch {
  state(): ModelState;
  /**
   * Begins to put another speech model in the place of the one that serves; `state()` reports how far that is. Throws
   * ModelRefused with the reason, for an operator, where it does not begin; nothing has changed then. `by`: who wants
   * it, for the log.
   */
  use(name: string, by: string): void;
}

export interface ModelState {
  serving: string;
  /** Since when it does, milliseconds since 1970. */
  since: number;
  /** What the next start serves. */
  afterRestart: string;
  /** null: none is under way. */
  change: ModelChange | null;
  /** How the last one that began has ended; null: there was none. */
  last: { to: string; error: string | null } | null;
}

/** The new model is loaded, and tried; then it serves, while the old one ends the requests that it has. */
export interface ModelChange {
  phase: 'starting' | 'checking' | 'draining';
  from: string;
  to: string;
  /** That the old one has still to end; only of `draining`. */
  requests: number;
}
