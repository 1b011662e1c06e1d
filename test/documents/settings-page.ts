/** docs/settings.md, from the table of settings. */
import { TEXTS } from '../../src/http/dashboard/texts.js';
import { FIXED_LIMITS } from '../../src/service/server-settings.js';
import { allowedValues, type Setting } from '../../src/service/settings/setting.js';
import { SETTINGS_BY_GROUP } from '../../src/service/settings/settings.js';
import { RETIRED_VARIABLES } from '../../src/service/variables.js';
import { SETTING_GROUPS, type SettingGroup } from '../../src/setting-in-force.js';
import { markdownTable, type Parts } from './marked-parts.js';

export function settingsParts(): Parts {
  return {
    settings: SETTING_GROUPS.map(groupSection).join('\n\n'),
    'variables that have no effect': Object.entries(RETIRED_VARIABLES)
      .map(([name, why]) => `\`${name}\` is ignored, with a warning: ${why}. The next version refuses it.`)
      .join('\n\n'),
    'limits that no variable sets': markdownTable(['Limit', 'Value'], fixedLimits()),
  };
}

function groupSection(group: SettingGroup): string {
  const settings = Object.entries<Setting>(SETTINGS_BY_GROUP[group]);
  return [`## ${TEXTS.server.groups[group]}`, ...settings.map(([name, setting]) => section(name, setting))].join(
    '\n\n',
  );
}

function section(name: string, setting: Setting): string {
  const allowed = setting.type === 'integer' ? `${setting.minimum} to ${setting.maximum}` : allowedValues(setting);
  const facts = [[setting.type, defaultOf(setting), allowed, setting.since]];
  return [`### ${name}`, setting.about, markdownTable(['Type', 'Default', 'Allowed', 'Since'], facts)].join('\n\n');
}

function defaultOf(setting: Setting): string {
  if (setting.defaultText !== undefined) return setting.defaultText;
  return setting.default === null || setting.default === '' ? 'none' : `\`${setting.default}\``;
}

function fixedLimits(): string[][] {
  const { maxFileBytes, uploadIdleMs, jsonTimeoutMs, requestTimeoutMs, headersTimeoutMs } = FIXED_LIMITS;
  const { receiveTimeoutMs, answerStallMs } = FIXED_LIMITS;
  return [
    ['The bytes of a file', maxFileBytes.toLocaleString('en')],
    ['A pause in an upload', inTime(uploadIdleMs)],
    ['The headers of a request', inTime(headersTimeoutMs)],
    ['A body of JSON', inTime(jsonTimeoutMs)],
    ['A whole upload', inTime(receiveTimeoutMs)],
    ['A request, with the work on it', inTime(requestTimeoutMs)],
    ['A client that reads nothing of its answer', inTime(answerStallMs)],
  ];
}

function inTime(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${seconds / 60} minutes` : `${seconds / 3600} hours`;
}
