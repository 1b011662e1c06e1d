/** Where links lead that show a transcript to anybody who has them. */
export const SHARE = '/share';
