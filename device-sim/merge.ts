import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from './report/record.ts';
import { mergeRecords } from './scenario/merge-records.ts';
import { UsageError } from './usage-error.ts';

function readRecord(folder: string): RunRecord {
  const file = join(folder, 'report.json');
  let record: RunRecord;
  try {
    record = JSON.parse(readFileSync(file, 'utf8')) as RunRecord;
  } catch (error) {
    throw new UsageError('merge', `${file} cannot be read: ${(error as Error).message}`);
  }
  if (record?.format !== 1) throw new UsageError('merge', `${file} is not a report of this simulator`);
  return record;
}

/**
 * Makes one report from the report folders of several processes that shared a run. Throws a UsageError if they are not
 * parts of one run.
 */
export const mergeReports = (folders: readonly string[]): RunRecord => mergeRecords(folders.map(readRecord));
