/** Parsers for options that hold a list. */
import { InvalidArgumentError } from 'commander';
import { integerFrom } from '../../src/cli/options.js';

/** '1,2,4', each from 1. */
export function integerList(maximum?: number): (value: string) => number[] {
  const integer = integerFrom(1, maximum);
  return (value) => value.split(',').map(integer);
}

/** 'a,b', each one of the choices. */
export function listOf<T extends string>(choices: readonly T[]): (value: string) => T[] {
  const choice = (given: string): T => {
    const found = choices.find((known) => known === given);
    if (found === undefined) throw new InvalidArgumentError(`allowed: ${choices.join(', ')}, by comma.`);
    return found;
  };
  return (value) => value.split(',').map(choice);
}
