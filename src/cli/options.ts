/** Parsers for options that more than one command takes. */
import { InvalidArgumentError, type Command } from 'commander';
import { languageByName, normalizeLanguage } from '../engine/languages.js';
import { ConfigError, UsageError } from '../service/variables.js';

/** Converts a language code in any spelling, or an English name, to the service's code. Throws ConfigError. */
export function asLanguageCode(option: string, value: string): string {
  const language = normalizeLanguage(value) ?? languageByName(value);
  if (language !== null) return language;
  throw new ConfigError(option, value, 'an ISO 639 language code or an English name, such as es, spa or Spanish');
}

/** Throws UsageError, with the option's name, if the command line gives one of these options. */
export function refuseGiven(command: Command, attributes: readonly string[], why: string): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (attributes.includes(name) && command.getOptionValueSource(name) === 'cli') {
      throw new UsageError(`${option.long ?? name} ${why}.`);
    }
  }
}

const LARGEST = 2_147_483_647;

/** Parsers for commander. */
export function integerFrom(minimum: number, maximum = LARGEST): (value: string) => number {
  const allowed = maximum === LARGEST ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < minimum || number > maximum) {
      throw new InvalidArgumentError(`allowed: an integer ${allowed}.`);
    }
    return number;
  };
}

export function positiveNumber(value: string): number {
  const number = Number(value);
  if (!(number > 0) || !Number.isFinite(number)) throw new InvalidArgumentError('allowed: a number above 0.');
  return number;
}

/** Both 0 and 10 are excluded. */
export function numberFrom0To10(value: string): number {
  const number = positiveNumber(value);
  if (number >= 10) throw new InvalidArgumentError('allowed: a number above 0 and below 10.');
  return number;
}
