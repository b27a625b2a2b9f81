import t from 'tap';
import {
  KEY_SIGNS_FOR,
  KEY_STAYS_FOR,
  PUBLISHED_BEFORE,
  planRotation,
  signingAt,
} from '../../src/core/applications/key-rotation.ts';

void t.test('without a key one is made', async (t) => {
  t.strictSame(planRotation([], 7), { create: true, remove: [], next: 7 + KEY_SIGNS_FOR });
});

void t.test('a key signs for 30 days', async (t) => {
  const keys = [{ keyId: 'a', createdAt: 0 }];
  t.strictSame(planRotation(keys, KEY_SIGNS_FOR - 1), { create: false, remove: [], next: KEY_SIGNS_FOR });
  t.strictSame(planRotation(keys, KEY_SIGNS_FOR), {
    create: true,
    remove: [],
    next: KEY_SIGNS_FOR + PUBLISHED_BEFORE + KEY_STAYS_FOR,
  });
});

void t.test('a key goes when the last token that it signed has expired', async (t) => {
  const keys = [
    { keyId: 'a', createdAt: 0 },
    { keyId: 'b', createdAt: KEY_SIGNS_FOR },
  ];
  const gone = KEY_SIGNS_FOR + PUBLISHED_BEFORE + KEY_STAYS_FOR;
  t.ok(KEY_STAYS_FOR >= 3600 * 1_000_000);
  t.strictSame(planRotation(keys, gone - 1), { create: false, remove: [], next: gone });
  t.strictSame(planRotation(keys, gone), { create: false, remove: ['a'], next: 2 * KEY_SIGNS_FOR });
});

void t.test('a key signs when verifiers that keep the published ones have it; the first one at once', async (t) => {
  const [a, b] = [
    { keyId: 'a', createdAt: 0 },
    { keyId: 'b', createdAt: KEY_SIGNS_FOR },
  ];
  t.ok(PUBLISHED_BEFORE > 300 * 1_000_000, 'they may keep them for five minutes');
  t.equal(signingAt([a], 0), a);
  t.equal(signingAt([a, b], KEY_SIGNS_FOR + PUBLISHED_BEFORE - 1), a);
  t.equal(signingAt([a, b], KEY_SIGNS_FOR + PUBLISHED_BEFORE), b);
  t.equal(signingAt([], 0), undefined);
});
