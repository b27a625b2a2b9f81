import { globSync } from 'node:fs';
import { join } from 'node:path';

const TESTS = join(import.meta.dirname, '..');

/**
 * Test files that need a process of their own, each with its reason. All others share a process with their group,
 * because starting a process and loading the service costs more than most files take.
 */
export const ALONE: Readonly<Record<string, string>> = {
  'cluster/crash.test.ts': 'it has a bound of its own for its time',
  'database/sqlite/full-disk.test.ts': 'it mounts a disk until its process ends',
  'device-sim/fleet/memory.test.ts': 'it measures the memory of its process',
  'device-sim/scenario/ready.test.ts': 'its scenarios expect times of their service',
  'fleet/remembered.test.ts': 'it collects the garbage of its process',
  'flow/crash.test.ts': 'it has a bound of its own for its time',
  'http/router.test.ts': 'its server is there until its process ends',
  'objects/both-stores.test.ts': 'its servers are there until its process ends',
};

/**
 * The processes of the other tests, by the names of their files in this folder, the longest first, each with the
 * folders below `test/` that it runs. `.` is for the files directly in `test/`. `rest` runs all other folders.
 */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  '01-console': ['console', 'docs'],
  '02-device-sim': ['device-sim'],
  '03-flow': ['flow'],
  '04-database': ['database'],
  '05-rest': [],
  '06-cluster': ['cluster'],
  '07-own': ['.'],
  '08-starvation': ['starvation'],
  '09-api': ['api'],
  '10-broker': ['broker', 'sessions'],
  '11-admin': ['admin', 'audit', 'retention', 'fleet'],
  '12-cli': ['cli', 'client'],
  '13-webhooks': ['webhooks', 'outbox', 'events'],
};

/** Every test file, as a path from `test/` on. */
export const allFiles = (): string[] => globSync('**/*.test.ts', { cwd: TESTS }).sort();

/** The test files of a group. */
export function filesOf(group: string): string[] {
  const folders = GROUPS[group];
  if (folders === undefined) throw new Error(`there is no group ${group}`);
  const named = Object.values(GROUPS).flat();
  const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '.');
  return allFiles().filter((file) => {
    if (file in ALONE) return false;
    return folders.length > 0 ? folders.includes(folderOf(file)) : !named.includes(folderOf(file));
  });
}
