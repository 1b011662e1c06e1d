/** Where the manual of this version is. */
export const GUIDE = '/docs/guide';
