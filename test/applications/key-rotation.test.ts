import t from 'tap';
import {
  KEY_SIGNS_FOR_MICROS,
  KEY_STAYS_FOR_MICROS,
  PUBLISHED_BEFORE_MICROS,
  planRotation,
  signingAt,
} from '../../src/core/applications/key-rotation.ts';

void t.test('without a key one is made', async (t) => {
  t.strictSame(planRotation([], 7), { create: true, remove: [], next: 7 + KEY_SIGNS_FOR_MICROS });
});

void t.test('a key signs for 30 days', async (t) => {
  const keys = [{ keyId: 'a', createdAt: 0 }];
  t.strictSame(planRotation(keys, KEY_SIGNS_FOR_MICROS - 1), { create: false, remove: [], next: KEY_SIGNS_FOR_MICROS });
  t.strictSame(planRotation(keys, KEY_SIGNS_FOR_MICROS), {
    create: true,
    remove: [],
    next: KEY_SIGNS_FOR_MICROS + PUBLISHED_BEFORE_MICROS + KEY_STAYS_FOR_MICROS,
  });
});

void t.test('a key goes when the last token that it signed has expired', async (t) => {
  const keys = [
    { keyId: 'a', createdAt: 0 },
    { keyId: 'b', createdAt: KEY_SIGNS_FOR_MICROS },
  ];
  const gone = KEY_SIGNS_FOR_MICROS + PUBLISHED_BEFORE_MICROS + KEY_STAYS_FOR_MICROS;
  t.ok(KEY_STAYS_FOR_MICROS >= 3600 * 1_000_000);
  t.strictSame(planRotation(keys, gone - 1), { create: false, remove: [], next: gone });
  t.strictSame(planRotation(keys, gone), { create: false, remove: ['a'], next: 2 * KEY_SIGNS_FOR_MICROS });
});

void t.test('a key signs only when verifiers with cached keys have it; the first one signs at once', async (t) => {
  const [a, b] = [
    { keyId: 'a', createdAt: 0 },
    { keyId: 'b', createdAt: KEY_SIGNS_FOR_MICROS },
  ];
  t.ok(PUBLISHED_BEFORE_MICROS > 300 * 1_000_000, 'they may keep them for five minutes');
  t.equal(signingAt([a], 0), a);
  t.equal(signingAt([a, b], KEY_SIGNS_FOR_MICROS + PUBLISHED_BEFORE_MICROS - 1), a);
  t.equal(signingAt([a, b], KEY_SIGNS_FOR_MICROS + PUBLISHED_BEFORE_MICROS), b);
  t.equal(signingAt([], 0), undefined);
});
