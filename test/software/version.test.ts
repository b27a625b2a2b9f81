import semver from 'semver';
import t, { type Test } from 'tap';
import { versionSortKey } from '../../src/core/software/version.ts';

/** Compares versions as the database does: by the bytes of their keys. */
const compareKeys = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(versionSortKey(a)), Buffer.from(versionSortKey(b)));

const inOrder = (t: Test, versions: string[]): void => {
  for (const [index, older] of versions.entries()) {
    for (const newer of versions.slice(index + 1)) t.equal(compareKeys(older, newer), -1, `${older} < ${newer}`);
  }
};

t.test('the vectors of SemVer 2.0.0, clause 11', async (t) => {
  inOrder(t, ['1.0.0', '2.0.0', '2.1.0', '2.1.1']);
  inOrder(t, [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
  ]);
});

t.test('numbers count as numbers, of any length', async (t) => {
  const long = '9'.repeat(60);
  inOrder(t, [
    '0.0.0',
    '0.0.9',
    '0.0.10',
    '0.9.0',
    '0.10.0',
    '9.0.0',
    '10.0.0',
    `${long}.0.0`,
    `1${'0'.repeat(60)}.0.0`,
  ]);
  inOrder(t, ['1.0.0-9', '1.0.0-10', `1.0.0-${long}`, '1.0.0--', '1.0.0-0a', '1.0.0-A', '1.0.0-a', '1.0.0']);
  const longer = '1'.repeat(100);
  inOrder(t, ['1.0.0', `${'9'.repeat(99)}.0.0`, `${longer}.0.0`, `${longer}.1.0`]);
});

t.test('identifiers compare by their characters, and a longer list is newer', async (t) => {
  inOrder(t, [
    '1.0.0-a',
    '1.0.0-a.0',
    '1.0.0-a.0.0',
    '1.0.0-a.1',
    '1.0.0-a.a',
    '1.0.0-a-',
    '1.0.0-a0',
    '1.0.0-aa',
    '1.0.0-b',
  ]);
});

t.test('build metadata does not count', async (t) => {
  t.equal(compareKeys('1.0.0', '1.0.0+20130313144700'), 0);
  t.equal(compareKeys('1.0.0-beta+exp.sha.5114f85', '1.0.0-beta+001'), 0);
  t.equal(compareKeys('1.0.0-beta+9', '1.0.0'), -1);
});

t.test('other schemes are older than all SemVer versions, in the order of their runs', async (t) => {
  const others = [
    'beta',
    '1',
    '1.0',
    '1.0-rc1',
    '1.0-rc2',
    '1.0-rc10',
    '1.0.0.0',
    '1.2',
    '1.10',
    '1.10.1.1',
    '2024.06',
    '2025-01',
  ];
  inOrder(t, [...others, '0.0.0-0', '0.0.1']);
  // Leading zeros and a leading letter are not allowed in SemVer (clause 2).
  inOrder(t, ['v2.0.0', '01.2.3', '1.2.3-01', '1.02.4', '0.0.0']);
});

t.test('a key is ASCII without spaces', async (t) => {
  for (const version of ['1.2.3-a.1+b', 'x_y', '...', '+', '9'.repeat(64)])
    t.match(versionSortKey(version), /^[!-~]+$/);
});

/** A small generator with a seed (mulberry32), so that a failure can be repeated. */
function createRandom(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

t.test('for any two SemVer versions the keys compare as the library semver does', async (t) => {
  const random = createRandom(20_261_120);
  const pick = (from: readonly string[]): string => from[random(from.length)] ?? '';
  const NUMBERS = ['0', '1', '2', '9', '10', '11', '99', '100', '101', '9007199254740991'];
  const IDENTIFIERS = [
    ...NUMBERS,
    '-',
    '--',
    'a',
    'a-',
    'a0',
    'aa',
    'A',
    'b',
    'Z',
    'z',
    '0a',
    '1-',
    'alpha',
    'rc',
    'x1',
    '00a',
  ];
  const random3 = () => [pick(NUMBERS), pick(NUMBERS.slice(0, 3)), pick(NUMBERS.slice(0, 3))].join('.');
  const preRelease = () => Array.from({ length: 1 + random(3) }, () => pick(IDENTIFIERS)).join('.');
  const any = () =>
    `${random3()}${random(3) > 0 ? `-${preRelease()}` : ''}${random(4) === 0 ? `+${pick(IDENTIFIERS)}` : ''}`;
  const wrong: string[] = [];
  let kinds = 0;
  for (let round = 0; round < 30_000; round += 1) {
    const a = any();
    // Often two versions of the same core; otherwise the first number would nearly always decide.
    const core = a.split(/[-+]/)[0] ?? '';
    const b = random(2) === 0 ? any() : `${core}-${preRelease()}`;
    const expected = semver.compare(a, b);
    kinds |= 1 << (expected + 1);
    if (compareKeys(a, b) !== expected) wrong.push(`${a} ${b}`);
  }
  t.same(wrong, []);
  t.equal(kinds, 7, 'older, equal and newer were all met');
});
