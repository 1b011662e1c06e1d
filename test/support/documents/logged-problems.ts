/** The warnings and errors of the log, read from the sources. */
import * as ts from 'typescript';
import { everyNode, sourcesWith, literalText } from './source-texts.js';

const LEVELS = ['warn', 'error', 'fatal'];

/** `…` stands for what a message is filled with. A message that is a text of its own module is left out. */
export function loggedProblems(): string[] {
  const found = new Set<string>();
  for (const source of sourcesWith(['logger']))
    everyNode(source, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const { name, expression } = node.expression;
      if (!LEVELS.includes(name.text) || !/(?:^|\.)logger$/.test(expression.getText(source))) return;
      const message = literalText(node.arguments.at(-1));
      if (message !== '…') found.add(message);
    });
  return [...found];
}
