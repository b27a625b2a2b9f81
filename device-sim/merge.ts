import { join } from 'node:path';
import type { RunRecord } from './report/record.ts';
import { mergeRecords } from './scenario/merge-records.ts';
import { readReport } from './scenario/read-report.ts';

/**
 * Makes one report from the report folders of several processes that shared a run. Throws a UsageError if they are not
 * parts of one run.
 */
export const mergeReports = (folders: readonly string[]): RunRecord =>
  mergeRecords(folders.map((folder) => readReport('merge', join(folder, 'report.json'))));
