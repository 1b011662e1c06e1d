import { ownCommand } from '../../../package-root.js';

export const SIGN_IN = {
  title: 'Sign in',
  email: 'E-mail address',
  password: 'Password',
  submit: 'Sign in',
  wrong: 'The e-mail address or the password is wrong, or no password is set.',
  throttled: (seconds: number) => `Too many attempts. Try again in ${seconds} s, or use a sign-in link.`,
  noPassword:
    'No password yet, or forgotten it? A sign-in link works once and lets you set one. The operator of this server ' +
    'creates it with:',
  command: `${ownCommand} accounts sign-in-link --email`,
  linkTitle: 'Sign in with a link',
  linkFor: 'This link signs you in as',
  linkGone: 'This link was used already, was replaced by a newer one, or has expired after a day. Ask for a new one.',
  continue: 'Continue',
} as const;
