import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { junitReport } from './junit.ts';
import { reportPage } from './page.ts';
import type { RunRecord } from './record.ts';

/** Writes report.json, junit.xml and report.html into a folder, which is made when missing. */
export function writeReport(folder: string, record: RunRecord): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(record)}\n`);
  writeFileSync(join(folder, 'junit.xml'), junitReport(record));
  writeFileSync(join(folder, 'report.html'), reportPage(record));
}
