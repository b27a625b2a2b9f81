import { eventsOf } from '@lapel/console/base/event-stream';
import { ago, between, bytes, counted, duration, numberOf, visible } from '@lapel/console/base/format';
import { linesOf } from '@lapel/console/base/lines';
import { termsOf } from '@lapel/console/base/tag-terms';
import { wordsOf } from '@lapel/console/base/words';
import { behindPresent, fromField, startOfDay, zone } from '@lapel/console/base/zone';
import { parseExact } from '@lapel/schemas/base/exact-json';
import t from 'tap';

t.test('durations and ages have suitable units', async (t) => {
  const SECOND = 1_000;
  const DAY = 86_400 * SECOND;
  for (const [milliseconds, words] of [
    [0.2, '< 1 ms'],
    [38.4, '38 ms'],
    [1_240, '1.2 s'],
    [59_900, '59 s'],
    [61 * SECOND, '1 min 1 s'],
    [120 * SECOND, '2 min'],
    [3_660 * SECOND, '1 h 1 min'],
    [3 * DAY + 4 * 3_600 * SECOND, '3 d 4 h'],
  ] as const)
    t.equal(duration(milliseconds), words);
  t.same(
    [ago(900), ago(59_000), ago(90 * SECOND), ago(30 * 3_600 * SECOND), ago(3 * DAY)],
    ['now', '59 s ago', '1 min ago', '30 h ago', '3 d ago'],
  );
  t.same([counted(1, 'device'), counted(12_345, 'device')], ['1 device', '12,345 devices']);
  t.same([bytes(512), bytes(1_536), bytes(200_000_000)], ['512 B', '1.5 KiB', '191 MiB']);
});

t.test('the difference of two times of the service is exact to the microsecond', async (t) => {
  t.equal(between('2026-11-22T12:00:00.000100Z', '2026-11-22T12:00:00.001350Z'), 1.25);
  t.equal(between('2026-11-22T11:59:59.999999Z', '2026-11-22T12:00:00.000001Z').toFixed(6), '0.002000');
});

t.test('characters that turn the direction of writing, or are invisible, are shown escaped', async (t) => {
  t.equal(visible('photo\u202egpj.exe'), 'photo⟨U+202E⟩gpj.exe');
  t.equal(visible('a\u0000b\u200bc\u0085'), 'a⟨U+0000⟩b⟨U+200B⟩c⟨U+0085⟩');
  t.equal(visible('two\nlines\tand 日本 <b>'), 'two\nlines\tand 日本 <b>', 'the rest stays as it is');
});

t.test('errors are shown with each faulty field', async (t) => {
  t.equal(wordsOf({ message: 'wrong url.' }), 'wrong url.');
  const details = [{ loc: ['body', 'entries', '0', 'ssid'], msg: 'Field required', type: 'missing' }];
  t.equal(wordsOf({ reason: 'invalid request.', details }), 'invalid request. entries.0.ssid: Field required');
  t.equal(wordsOf({ error: 'invalid_client', error_description: 'no.' }), 'no.');
  t.equal(wordsOf(undefined), null);
});

t.test('terms of tags are separated by commas, which may also be in a value', async (t) => {
  t.same(termsOf('site=osaka, ring=canary,!old'), ['site=osaka', 'ring=canary', '!old']);
  t.same(termsOf('note=a,, b, c=d'), ['note=a,, b', 'c=d']);
  t.same(termsOf(' , site'), ['site'], 'the service says what is wrong with it');
  t.same(termsOf(''), []);
});

/** A body that arrives in these pieces, also split inside a character. */
function inPieces(text: string, size: number): Response {
  const whole = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
    whole.slice(n * size, (n + 1) * size),
  );
  return new Response(ReadableStream.from(pieces) as ReadableStream<Uint8Array<ArrayBuffer>>);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

t.test('server-sent events are read whatever pieces they come in', async (t) => {
  const text = ': here\n\nevent: change\ndata: ["ü"]\n\ndata: 1\r\ndata: 2\r\n\r\nevent: lost\n\ndata: unfinished';
  for (const size of [1, 3, 1_000])
    t.same(await all(eventsOf(inPieces(text, size))), [
      { event: 'change', data: '["ü"]' },
      { event: 'message', data: '1\n2' },
    ]);
});

t.test('lines are read whatever pieces they come in, the last without its end', async (t) => {
  for (const size of [1, 2, 1_000])
    t.same(await all(linesOf(inPieces('{"ü":1}\n\n{"b":2}\nend', size))), ['{"ü":1}', '{"b":2}', 'end']);
});

t.test('a day begins at midnight of the chosen zone', async (t) => {
  const noon = new Date(2026, 10, 25, 12);
  t.equal(startOfDay(noon.getTime()), new Date(2026, 10, 25).getTime());
  zone.value = 'utc';
  t.teardown(() => {
    zone.value = 'local';
  });
  t.equal(startOfDay(Date.UTC(2026, 10, 25, 23, 59)), Date.UTC(2026, 10, 25));
});

t.test('a range to the present has what the service has stored in this second', async (t) => {
  const minute = Date.UTC(2026, 10, 25, 17, 40);
  for (const second of [0, 1, 30, 54, 55, 59.999]) {
    const shown = minute + second * 1_000; // the time of the page, which may be seconds behind
    t.ok(fromField(behindPresent(shown)) > shown + 4_000, `${second} s`);
  }
});

t.test('pages show the number of a value that is kept as it was written', async (t) => {
  const numbers = ['12345678901234567890', '-0', '1.0', '1e400', '1E1', '0.00000001', '42.5', '-7', '1764320400123456'];
  const forms = [(one: string) => `[1,${one}]`, (one: string) => `{"a":{"b: [1.0":${one}}}`];
  for (const one of numbers)
    for (const form of forms) {
      t.equal(JSON.stringify(parseExact(form(one))), form(one));
    }
  t.equal(numberOf((parseExact('[12345678901234567890]') as unknown[])[0]), Number('12345678901234567890'));
});
