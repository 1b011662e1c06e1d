/** Says which speech model serves, and replaces it. */
export interface ModelSwitch {
  state(): ModelState;
  /**
   * Starts to replace the serving speech model; `state()` reports the progress. Throws ModelRefused with a reason for
   * the operator if the change cannot start; then nothing has changed. `by`: who requested it, for the log.
   */
  use(name: string, by: string): void;
}

export interface ModelState {
  serving: string;
  /** When it began to serve, in milliseconds since 1970. */
  since: number;
  /** The model that serves after a restart. */
  afterRestart: string;
  /** The change under way; null: none. */
  change: ModelChange | null;
  /** The result of the last change; null: there was none. */
  last: { to: string; error: string | null } | null;
}

/** The new model is loaded and checked. Then it serves, while the old one finishes its requests. */
export interface ModelChange {
  phase: 'starting' | 'checking' | 'draining';
  from: string;
  to: string;
  /** Requests that the old model must still finish. Set only in phase `draining`. */
  requests: number;
}
