import { expect } from 'chai';
import type { Finding } from '../../../src/service/doctor/finding.js';
import { inWorkplace, type OptionRows } from './rows.js';

export const doctorRows: OptionRows = {
  'doctor --json': () =>
    inWorkplace(async (place) => {
      const { stdout } = await place.run(['doctor', '--json']);
      const findings = JSON.parse(stdout) as Finding[];
      expect(findings.map(({ topic }) => topic)).to.include.members(['processor', 'model', 'ffmpeg']);
      expect(findings[0]).to.have.all.keys('topic', 'state', 'found', 'remedy');
    }),
};
