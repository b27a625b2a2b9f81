import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { SEALED_TABLES } from '../../../src/core/encryption/sealed-columns.ts';
import type { UnitOfWork } from '../../../src/platform/database/sql.ts';
import { createVault } from '../../../src/platform/encryption/vault.ts';

/** Stands for any argument: each of its members is another such value. As text it is a word, as a number 1. */
const anything: unknown = new Proxy(
  {},
  {
    get: (_, name) => {
      if (name === Symbol.toPrimitive) return (hint: string) => (hint === 'number' ? 1 : 'any');
      if (name === Symbol.iterator) return () => [][Symbol.iterator]();
      return name === 'then' || name === 'toJSON' ? undefined : anything;
    },
  },
);

/** A row with any columns; each value is the number 1, and JSON as well. */
const row: unknown = new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : 1) });

const ALL_OF_FLEET = {
  prefix: '3',
  developerId: 'd',
  applicationId: 'a',
  activation: 'activated',
  blocked: true,
  batteryBelow: 9,
  batteryFrom: 1,
  seenBefore: 9,
  terms: { firmwareVersion: { is: '9' }, package: 'p', version: { is: '1' } },
};
/** Selectors with all forms of conditions. */
const TERMS = [
  {},
  {
    tags: [
      { key: 'a', values: ['1'] },
      { key: 'b', values: ['1', '2'] },
      { key: 'c', values: [] },
    ],
    lang: 'ja',
    firmwareVersion: { is: null },
  },
  { package: 'p', version: { not: '1' }, firmwareVersion: { not: '1' } },
  {
    member: { rolloutId: 'r', state: 'failed' },
    charging: true,
    batteryAtLeast: 1,
    networkType: 'n',
    storageFreeAtLeast: 1,
  },
];
const SELECTIONS = TERMS.flatMap((terms) =>
  [undefined, 'p'].map((versionOf) => ({
    applicationId: 'a',
    terms,
    versionOf,
    readsFirmware: versionOf !== undefined,
  })),
);
const ALL_OF_TRANSACTIONS = {
  applicationId: 'a',
  operations: ['setApn', 'setWifi'],
  status: 'queued',
  createdSince: 1,
  createdBefore: 9,
  endedSince: 1,
  endedBefore: 9,
  errorCode: 'X',
  package: 'p',
  version: 'v',
};
const STORED_ENDPOINT = {
  applicationId: 'a',
  endpointId: 'ep',
  url: 'u',
  types: ['test'],
  secret: 's',
  formerSecret: null,
};
const COUNTED = { before: 1, since: 2, until: 3 };
const INSTALLATIONS = ['installed', 'waiting', 'failed'].flatMap((state) =>
  ['software', 'firmware'].flatMap((line) =>
    [undefined, 'a'].map((applicationId) => ({ state, name: { line, package: 'p', version: '1' }, applicationId })),
  ),
);

/** The arguments of the functions whose statements depend on them. All other functions are called with `anything`. */
const VARIANTS: Record<string, readonly (readonly unknown[])[]> = {
  findEvents: [{}, { types: ['test', 'call.*'] }, { deviceId: 'd', types: ['test'] }].map((filter) => [
    anything,
    filter,
    { after: 0, upTo: 9, limit: 1 },
  ]),
  findFresh: [[['a', 'b'], 0, 9]],
  findEdge: ['first', 'last'].map((edge) => ['a', 'msg_0', edge]),
  countMatching: [['a', {}, { after: 0, upTo: 9, most: 3 }]],
  insertEndpoint: [[STORED_ENDPOINT]],
  saveEndpoint: [[STORED_ENDPOINT]],
  saveReplay: [[STORED_ENDPOINT, null]],
  insertTaken: [true, false].map((again) => [anything, anything, { now: 1, again }]),
  findBusyDevices: [[anything, ['d']]],
  countWith: ['pending', 'blocked'].map((status) => [anything, status, 9]),
  releaseBehind: [[anything, [1], 9]],
  removeSome: [true, false].map((onlyOpen) => [anything, { most: 9, onlyOpen }]),
  releaseAll: [true, false].map((ordered) => [anything, ordered, 9]),
  listDeliveriesTo: [{}, { status: 'blocked', deviceId: 'd', before: 9 }, { status: 'delivered' }].map((filter) => [
    anything,
    { ...filter, limit: 9, isOrdered: true },
  ]),
  nextRows: SEALED_TABLES.flatMap((sealed) => [
    [sealed, undefined, 9],
    [sealed, sealed.key.map(() => anything), 9],
  ]),
  rewrite: SEALED_TABLES.flatMap((sealed) =>
    sealed.columns.map((column) => [
      sealed,
      { key: sealed.key.map(() => anything), row: [], values: [] },
      { column, stored: 'x' },
    ]),
  ),
  sumLargeParameters: [[anything], [anything, anything]],
  unfinishedOf: [[anything], [anything, anything]],
  addCleared: [['r', { devices: 1 }, 9]],
  countOwnedByAny: [[['n']]],
  countEvents: [[anything, ['custom.crash'], 1]],
  countInstalled: [[['d']]],
  countLevels: [[['d']]],
  listConnections: [[['d'], 1]],
  listSamples: [[['d'], 1]],
  registeredBefore: [[['d'], 1]],
  givenAmong: [[anything, [{ deviceId: 'd', state: 'failed', status: 'failed' }], false]],
  replacedAmong: [[anything, ['d'], 'r']],
  supersededAmong: [[anything, ['d']]],
  findValues: [['r', ['d']]],
  versionsOf: [
    [['d'], 'p'],
    [['d'], null],
  ],
  ownedByAny: [[['n'], 9]],
  ownersOf: [[['d']]],
  findOtherDue: [[{ applicationId: 'a', setting: 'deviceEvent' }, new Map([['m', 1]]), { now: 9, limit: 9 }]],
  willsOfOthers: [[['n'], 'c', 9]],
  movePartitions: [[[{ partition: 1, nodeId: 'n' }], 'n']],
  saveSoftware: [['d', { gone: ['p'], set: [['q', '1']] }, 0]],
  setActivation: [['d', { activation: 'activated', applicationId: 'a', clientId: 'c' }]],
  insertVersion: [['software', { version: '1.0.0' }]],
  listActivatedStates: [0, 5].map((offset) => ['a', { offset, limit: 9 }]),
  listTransactions: [
    {},
    { after: 9 },
    { status: 'queued' },
    { status: 'failed', operation: 'setApn' },
    { after: 9, status: 'failed' },
  ].map((filter) => ['a', 'b', { offset: 0, limit: 9, ...filter }]),
  countGroups: ['firmware', 'battery', 'package', 'developer', 'application', 'activation'].map((by) => [by, 9]),
  listPendingOfAll: [{}, { setting: 'deviceEvent', deviceId: 'd', since: 1, until: 2 }].map((filter) => [
    filter,
    'm',
    9,
  ]),
  listDeliveries: [
    {},
    { since: 1, until: 2 },
    { since: 1, after: 'm', deviceId: 'd', transactionId: 1 },
    { after: 'm' },
    { setting: 'deviceEvent' },
    ...['pending', 'delivered', 'exhausted', 'gone'].flatMap((status) => [
      { status },
      { status, setting: 'deviceEvent', after: 'm' },
    ]),
  ].map((filter) => ['a', { offset: 0, limit: 9, ...filter }]),
  listEntries: [
    {},
    { about: { kind: 'device', id: 'd' } },
    { after: 9 },
    { since: 1, until: 2 },
    { after: 9, actor: 'a', resource: 'r' },
  ].map((filter) => [{ offset: 0, limit: 9, ...filter }]),
  objectsOfEntries: [[[1]]],
  registeredOf: [[['d']]],
  keptSince: [[['d'], 'con_0']],
  saveLastSeen: [[[{ deviceId: 'd', at: 1 }]]],
  saveStoredBytes: [[{ developerId: 'd', binaryId: 'b', storedBytes: 1 }, 2]],
  makeRangeDue: ['waiting', 'pending', 'delivered', 'exhausted', 'gone'].flatMap((status) =>
    [{}, { setting: 'deviceEvent' }].map((filter) => ['a', { status, ...filter }, {}, 0, 9]),
  ),
  searchApplications: [['x', 9]],
  searchDevelopers: [['x', 9]],
  searchPackages: [['x', 9]],
  listCountedApplications: [{}, { developerId: 'd' }].map((filter) => [{ ...filter, after: '', limit: 9 }]),
  listPackageSummaries: [{}, { line: 'software', developerId: 'd' }].map((filter) => [
    { ...filter, after: { line: '', package: '' }, limit: 9 },
  ]),
  versionsBehind: [undefined, '1'].map((after) => ['software', 'p', { after, limit: 9 }]),
  fleetPlaces: [
    ...(['deviceId', 'lastSeen', '-lastSeen'] as const).flatMap((order) => [
      { order, filter: { terms: {} }, after: undefined },
      { order, filter: ALL_OF_FLEET, after: { deviceId: 'd', seenAt: 1 } },
    ]),
    ...TERMS.map((terms) => ({ order: 'deviceId', filter: { applicationId: 'a', terms }, after: undefined })),
  ].map((wanted) => [{ ...wanted, limit: 9 }]),
  fleetPlacesAmong: [{ terms: {} }, ALL_OF_FLEET].map((filter) => [filter, ['d']]),
  findCandidates: SELECTIONS.map((asked) => [asked, '', 9]),
  findCandidatesAmong: SELECTIONS.map((asked) => [asked, ['d']]),
  findCandidatesOfSample: SELECTIONS.map((asked) => [
    asked,
    { highest: 9, after: { lot: 1, deviceId: 'd' }, limit: 9 },
  ]),
  findEarlierCertificates: ['all', 'distributed'].map((which) => [{ package: 'p', version: '1.0.0' }, which]),
  countTagged: [['a', { key: 'k', values: ['v'] }, 9]],
  findTags: [[['d']]],
  lockActivated: [['a', ['d']]],
  insertDevices: [['a', ['d'], 0]],
  waitingAmong: [['a', ['d']]],
  listDevicesOf: [{}, { state: 'refused' }, { state: 'refused', code: 'X' }].map((filter) => [
    'a',
    { ...filter, after: 'd', limit: 9 },
  ]),
  insertMembers: [['r', [{ deviceId: 'd', stage: 0, place: 0 }], 0]],
  membersAmong: [['r', ['d']]],
  activatedAmong: [['a', ['d']]],
  statusesOf: [[[1]]],
  findInState: [undefined, 'CODE'].map((code) => [
    'r',
    { state: 'failed', code, after: { stage: 0, place: 0 }, limit: 9 },
  ]),
  findUnchanged: [
    ['setLanguage', { lang: 'ja' }],
    ['updateFirmware', { package: 'p', version: '1' }],
    ['installSoftware', { package: 'p', version: '1' }],
  ].map(([operation, asked]) => [operation, asked, ['d']]),
  listRollouts: [{}, { applicationId: 'a', state: 'paused', operation: 'setWifi', deviceId: 'd' }].map((filter) => [
    filter,
    { after: 'r', limit: 9 },
  ]),
  transactionsOfRollout: [true, false].flatMap((unfinished) =>
    [undefined, 9].flatMap((after) =>
      [true, false].map((oldestFirst) => [{ rolloutId: 'r' }, { after, limit: 9, unfinished, oldestFirst }]),
    ),
  ),
  fleetRows: [[['d']]],
  transactionsByNumber: [[[1]]],
  unfinishedTransactions: [true, false].flatMap((newestFirst) =>
    [{}, ALL_OF_TRANSACTIONS].flatMap((filter) =>
      [{}, { after: 9 }].map((after) => [filter, { ...after, limit: 9, newestFirst }]),
    ),
  ),
  transactionsBetween: [{}, ALL_OF_TRANSACTIONS].flatMap((filter) =>
    [{}, { oldestFirst: true }].map((order) => [filter, { from: 1, before: 9, limit: 9, ...order }]),
  ),
  transactionsOfDevice: [{}, ALL_OF_TRANSACTIONS].flatMap((filter) =>
    [{}, { oldestFirst: true }].map((order) => ['d', filter, { offset: 0, limit: 9, ...order }]),
  ),
  firstFrom: [[1]],
  countInstallations: INSTALLATIONS.map(({ state, name: { line }, applicationId }) => [
    state,
    { line, package: 'p' },
    applicationId,
  ]),
  listInstallations: INSTALLATIONS.flatMap(({ state, name, applicationId }) =>
    [{}, { errorCode: 'X', since: 1, until: 2 }].map((filter) => [
      state,
      name,
      { ...filter, applicationId, after: '', limit: 9 },
    ]),
  ),
  listDistributable: [{}, { package: 'p' }, { latest: true }, { package: 'p', latest: true }].map((filter) => [
    {},
    filter,
    {},
  ]),
  examineFailures: [{}, { errorCode: 'X' }, { package: 'p', version: 'v' }, { package: 'p' }, ALL_OF_TRANSACTIONS].map(
    (filter) => [filter, { at: 1, transactionId: 1 }, 9],
  ),
  timeOf: ['created_at', 'completed_at'].map((column) => [1, column]),
  countEnded: ['hour', 'version', 'errorCode'].flatMap((by) =>
    [{}, { applicationId: 'a', package: 'p', version: 'v' }, { package: 'p' }].map((filter) => [
      by,
      { ...COUNTED, ...filter },
      9,
    ]),
  ),
  listNewestOfSystem: [{}, { package: 'p' }].map((filter) => [filter, 3]),
};

/** The SQL texts that each function of the service's repositories sends, on a database of several nodes. */
export async function textsOfRepositories(): Promise<Map<string, ReadonlySet<string>>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const file of globSync('src/**/*-repository.ts').sort()) {
    const module = (await import(resolve(file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(module)) {
      for (const [member, called] of calledIn(name, value))
        found.set(`${file} ${member}`, await textsOf(member, called));
    }
  }
  return found;
}

/** The functions that an export is or, if it is a record of functions, has. */
function calledIn(name: string, value: unknown): [name: string, called: Called][] {
  if (typeof value === 'function') return [[name, value as Called]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).filter((entry): entry is [string, Called] => typeof entry[1] === 'function');
}

type Called = (unit: UnitOfWork, ...given: unknown[]) => Promise<unknown>;

async function textsOf(name: string, call: Called): Promise<Set<string>> {
  const texts = new Set<string>();
  let answers = 0; // a bit for each statement: whether it finds rows
  const record =
    (something: unknown, nothing: unknown) =>
    async (text: string): Promise<never> => {
      if (!/^(BEGIN|COMMIT|ROLLBACK)$/.test(text)) texts.add(text);
      const answer = answers % 2 === 0 ? something : nothing;
      answers = Math.floor(answers / 2);
      return answer as never;
    };
  const unit: UnitOfWork & { query: ReturnType<typeof record> } = {
    query: record([row], []), // a connection of the cluster itself, with `$1` for parameters
    all: record([row], []),
    get: record(row, undefined),
    run: record(1, 0),
    insert: record(1, 1),
    later: (text) => void record(1, 0)(text),
    insertLater: (text) => void record(1, 1)(text),
    insertReturning: (text) => void record(1, 1)(text),
    forUpdate: ' FOR NO KEY UPDATE',
    forRemoval: ' FOR UPDATE',
    whileThere: ' FOR KEY SHARE',
    skipLocked: ' FOR NO KEY UPDATE SKIP LOCKED',
    onCommit: () => undefined,
    onRollback: () => undefined,
    vault: createVault(),
  };
  for (const given of VARIANTS[name] ?? [Array(call.length - 1).fill(anything)]) {
    // The last argument may be a lock, so each call is also made with a lock in its place.
    for (const all of [given, [...given.slice(0, call.length - 1), unit.forUpdate]])
      for (const pattern of Array(16).keys()) {
        answers = pattern;
        try {
          await call(unit, ...all);
        } catch {
          // The function cannot use the invented rows.
        }
      }
  }
  return texts;
}
