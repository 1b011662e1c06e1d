import { expect } from 'chai';
import { browserName } from '../../../src/http/dashboard/browser-name.js';

const GECKO = 'AppleWebKit/537.36 (KHTML, like Gecko)';

const NAMES: Record<string, string> = {
  'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0': 'Firefox on Linux',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${GECKO} Chrome/130.0.0.0 Safari/537.36`]: 'Chrome on Windows',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${GECKO} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`]:
    'Edge on Windows',
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${GECKO} Chrome/130.0.0.0 Safari/537.36 OPR/115.0.0.0`]:
    'Opera on macOS',
  [`Mozilla/5.0 (Linux; Android 10; K) ${GECKO} SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36`]:
    'Samsung Internet on Android',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1':
    'Safari on iPhone',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15':
    'Safari on macOS',
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${GECKO} Chrome/130.0.0.0 Safari/537.36`]: 'Chrome on ChromeOS',
  'Firefox/1.0': 'Firefox',
  'curl/8.5.0': 'curl/8.5.0',
  'Mozilla/5.0 (Windows NT 10.0)': 'Mozilla/5.0 (Windows NT 10.0)',
  '': 'unknown',
};

describe('dashboard: the name of a browser', () => {
  for (const [userAgent, name] of Object.entries(NAMES)) {
    it(`is "${name}" of "${userAgent}"`, () => expect(browserName(userAgent)).to.equal(name));
  }
});
