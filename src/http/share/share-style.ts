/**
 * The looks of a shared transcript. They are in the page itself, so that a page needs nothing but its link; the
 * content security policy allows this text alone, by its hash.
 */
import { createHash } from 'node:crypto';

export const SHARE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f8fa, #0f1216);
  --raised: light-dark(#fff, #171b21);
  --line: light-dark(#dfe3e8, #2c333c);
  --text: light-dark(#16191d, #e9edf1);
  --soft: light-dark(#56606c, #a5b0bc);
}
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.65 system-ui, sans-serif;
}
main {
  box-sizing: border-box;
  max-width: 46rem;
  margin: 0 auto;
  padding: clamp(1rem, 5vw, 3rem) clamp(1rem, 4vw, 2rem);
}
h1 {
  margin: 0 0 0.25rem;
  font-size: 1.625rem;
  line-height: 1.3;
  overflow-wrap: anywhere;
}
h2 {
  margin: 2rem 0 0.75rem;
  font-size: 1.125rem;
}
small {
  color: var(--soft);
  font-size: 0.8125rem;
  font-variant-numeric: tabular-nums;
}
audio {
  position: sticky;
  top: 0.5rem;
  width: 100%;
  margin: 1rem 0;
}
section {
  padding: 0.5rem 1.25rem;
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--raised);
}
section p {
  margin: 0.75rem 0;
}
section small {
  display: block;
}
footer {
  margin-top: 2rem;
}
`;

/** For style-src. */
export const SHARE_STYLE_SOURCE = `'sha256-${createHash('sha256').update(SHARE_STYLE).digest('base64')}'`;
