import { Readable } from 'node:stream';
import { withCredentials } from '@lapel/console/base/device-file';
import { readerOf } from '@lapel/schemas/imports/import-lines';
import t from 'tap';
import { deviceIdOf } from '../world.ts';

const [ONE, TWO, THREE] = [deviceIdOf(1), deviceIdOf(2), deviceIdOf(3)] as const;
const OWN = 'c'.repeat(32);

/** The devices that the service reads from a file. */
async function readBy(type: string, text: string) {
  const lines = [];
  for await (const line of readerOf(type)!(Readable.from([Buffer.from(text)]))) lines.push(line);
  return JSON.parse(JSON.stringify(lines)) as { line: number; fault?: string; value?: { credential?: string } }[];
}

const FILES: Record<string, [text: string, made: number][]> = {
  'text/csv': [
    [`deviceId\n${ONE}\n${TWO}\n`, 2],
    [`\ufeffdeviceId\r\n${ONE}\r\n\r\n${TWO}`, 2],
    [`deviceId,credential\n${ONE},${OWN}\n${TWO},\n${THREE},""\n`, 2],
    [` credential , deviceId \n "" , ${ONE} \n${OWN},"${TWO}"\n`, 1],
    [`deviceId,hardwareProperties.model.name\n${ONE},"a, ""b""\nc"\nno device,x\n${TWO},\n${THREE}\n`, 2],
    [`deviceId,hardwareProperties\n${ONE},"{""model"":{""name"":""x""}}"\n`, 1],
    [`deviceId\n"${ONE}\n${TWO}\n`, 0],
    ['', 0],
  ],
  'application/x-ndjson': [
    [`{"deviceId":"${ONE}"}\n{"deviceId":"${TWO}","credential":"${OWN}"}\n\nno JSON\n[]\n{"deviceId":"${THREE}"}`, 2],
  ],
};

t.test('each device of a file gets a credential, and the rest of each line stays unchanged', async (t) => {
  for (const [type, files] of Object.entries(FILES)) {
    for (const [text, made] of files) {
      const complete = withCredentials(text, type !== 'text/csv');
      t.equal(complete.made, made, text);
      const [before, after] = [await readBy(type, text), await readBy(type, complete.text)];
      const bare = (lines: typeof before) =>
        lines.map(({ line, fault, value }) => ({
          line,
          fault: fault !== undefined,
          value: { ...value, credential: '' },
        }));
      t.same(bare(after), bare(before), text);
      const credentials = after.flatMap(({ value }) => value?.credential ?? []);
      t.equal(new Set(credentials).size, credentials.length);
      for (const [index, { value }] of before.entries())
        if (value?.credential) t.equal(after[index]?.value?.credential, value.credential, 'one that is given stays');
      for (const credential of credentials) t.match(credential, /^[\w-]{32,43}$/);
      t.equal(withCredentials(complete.text, type !== 'text/csv').made, 0, 'it can be imported once more as it is');
    }
  }
});
