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
  'encryption/encryption.test.ts': 'its rotation rests by the time of its steps, which a busy process makes long',
  'fleet/remembered.test.ts': 'it collects the garbage of its process',
  'flow/crash.test.ts': 'it has a bound of its own for its time',
  'http/router.test.ts': 'its server is there until its process ends',
  'objects/both-stores.test.ts': 'its servers are there until its process ends',
};

/**
 * Files and folders whose tests run one after another, before the other tests of their group, each with its reason. Of
 * all others some run at a time in one process, because most of their time is waiting.
 */
const ONE_BY_ONE: Readonly<Record<string, string>> = {
  'apk/inspector.test.ts': 'it counts the bytes that the process decodes',
  'apk/read-apk.test.ts': 'it measures the memory of its process',
  'broker/suspended.test.ts': 'it stops its process for seconds',
  'cluster/nodes.test.ts': 'it compares times with those of a lease',
  'console/': 'each has a browser, and a step of a page waits for 24 seconds only',
  'database/postgres/': 'some cut off the server that all use',
  'database/schemas.test.ts': 'it makes many databases on the server that all use',
  'database/upgrade.test.ts': 'it fills a large database on the server that all use',
  'demo.test.ts': 'its demos prefer the same ports',
  'enrolment/simulated-certificates.test.ts': 'it changes the CAs that its process trusts, as another file does',
  'flow/inspection-put-off.test.ts': 'a thousand of its calls must come before the store gives up the first ones',
  'flow/stopped-process.test.ts': 'its devices ping in good time, which a busy process cannot',
  'flow/restore.test.ts': 'it replaces databases of the server that all use',
  'foreign-text.test.ts': 'it measures the processor time of its process',
  'fuzz/': 'it measures the processor time of its thread',
  'objects/object-store.test.ts': 'it keeps its process busy for seconds',
  'supply.test.ts': 'npm keeps it busy for a second',
  'starvation/': 'they compare the times of callers',
};

/**
 * The processes of the other tests, each with the folders and files below `test/` that it runs, except the parts that
 * another group names. `.` is for the files directly in `test/`. `rest` runs all other folders.
 */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'device-sim': ['device-sim'],
  makers: ['device', 'device-sim/device-test', 'device-sim/library', 'device-sim/recording', 'device-sim/replay'],
  console: ['console', 'docs'],
  demo: ['demo.test.ts'],
  builds: ['client/languages.test.ts', 'operations/pipeline.test.ts'],
  flow: ['flow'],
  worlds: ['simulation', 'bench', 'mutants', 'breakages'],
  rest: [],
  rollouts: ['rollouts', 'device-actions', 'stream'],
  operations: ['operations', 'entrance', 'http', 'tracing', 'enrolment', 'encryption'],
  own: ['.'],
  database: ['database'],
  starvation: ['starvation'],
  api: ['api'],
  cluster: ['cluster'],
  broker: ['broker', 'sessions'],
  cli: ['cli', 'client'],
  webhooks: ['webhooks', 'outbox', 'events'],
  admin: ['admin', 'audit', 'retention', 'fleet'],
};

/**
 * The processes of each suite, the longest first, so that none of them is left over at the end: a file of `ALONE`, or
 * groups. Groups that share a process load the service once.
 */
const SERVICE = [
  ['flow'],
  ['database', 'broker'],
  ['rest'],
  ['rollouts'],
  ['cluster'],
  ['operations'],
  ['api', 'admin', 'webhooks'],
  ['starvation'],
  ['own'],
  ['cluster/crash.test.ts'],
  ['flow/crash.test.ts'],
  ['encryption/encryption.test.ts'],
  ['cli'],
  ['objects/both-stores.test.ts'],
  ['database/sqlite/full-disk.test.ts'],
  ['http/router.test.ts'],
  ['fleet/remembered.test.ts'],
];
const JOURNEYS = [
  ['console'],
  ['device-sim'],
  ['worlds'],
  ['makers'],
  ['device-sim/scenario/ready.test.ts'],
  ['demo'],
  ['builds'],
  ['device-sim/fleet/memory.test.ts'],
];

/**
 * The suites: the service by itself, which every change needs at once; and journeys as a user makes them, through a browser,
 * the guides, the demo, the device simulator and simulated worlds, which take as long again.
 */
export const SUITES = {
  service: SERVICE,
  journeys: JOURNEYS,
  all: [...SERVICE.slice(0, 1), ...JOURNEYS, ...SERVICE.slice(1)],
} as const satisfies Record<string, readonly (readonly string[])[]>;

/** Whether the tests of a file run while no other test of their process does. */
export const isOneByOne = (file: string): boolean => Object.keys(ONE_BY_ONE).some((path) => file.startsWith(path));

/** Every test file, as a path from `test/` on. */
export const allFiles = (): string[] => globSync('**/*.test.ts', { cwd: TESTS }).sort();

/** The test files of a group: those that run one after another, and those whose tests may run at the same time. */
export function filesOf(group: string): { oneByOne: string[]; atOnce: string[] } {
  const folders = GROUPS[group];
  if (folders === undefined) throw new Error(`there is no group ${group}`);
  const named = Object.values(GROUPS).flat();
  /** The name of the file if it is named, or the named folder that it is in, the innermost one; else its first folder. */
  function folderOf(file: string): string {
    const within = named
      .filter((one) => file === one || file.startsWith(`${one}/`))
      .toSorted((a, b) => b.length - a.length);
    return within[0] ?? (file.includes('/') ? file.slice(0, file.indexOf('/')) : '.');
  }
  const files = allFiles().filter((file) => {
    if (file in ALONE) return false;
    return folders.length > 0 ? folders.includes(folderOf(file)) : !named.includes(folderOf(file));
  });
  return { oneByOne: files.filter(isOneByOne), atOnce: files.filter((file) => !isOneByOne(file)) };
}
