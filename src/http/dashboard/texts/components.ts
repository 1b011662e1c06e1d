/** Of what is on several pages. */
export const COMPONENTS = {
  copy: 'Copy',
  copied: 'Copied.',
  dismiss: 'Dismiss',
} as const;
