import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeApk } from '@lapel/device-sim/files/make-apk';
import t, { type Test } from 'tap';
import { createAuthority, skip as withoutOpenssl } from '../broker/authority.ts';
import { keyLine } from '../enrolment/device-keys.ts';
import { missing } from '../installed.ts';
import { freshCheckout } from '../terminal.ts';
import { reasonOf, shellBlocksOf } from './blocks.ts';

/** The file that the documents upload, in a version. */
const apkOf = (versionName: string, versionCode: number): Buffer =>
  makeApk({
    attributes: [
      { name: 'package', value: 'com.example.camera' },
      { name: 'versionName', value: versionName },
      { name: 'versionCode', value: versionCode },
    ],
  });
const skip = missing.curl();
const blocksOf = (file: string): string[] =>
  shellBlocksOf(file)
    .filter((block) => reasonOf(block) === undefined)
    .map(({ text }) => text);

/** The commands of documents in a terminal, in which an earlier block leaves its variables to the later ones. */
async function openGuides(t: Test) {
  const checkout = await freshCheckout(t);
  const { cwd, here, open, stays } = checkout;
  // A shell that is given its commands does not expand aliases by itself, and those of one line not before the next.
  const known = `shopt -s expand_aliases\nalias lapel=${cwd}/bin/lapel.mjs\nalias lapel-sim=${cwd}/bin/lapel-sim.mjs\n`;
  const mine = open();
  mine.write(known);
  let done = 0;
  return {
    ...checkout,
    /** Starts a block whose command stays. */
    start: (block: string) => stays(known + here(block)),
    /** Runs a block; resolves to the whole output so far. */
    async run(block: string): Promise<string> {
      done += 1;
      mine.write(`${here(block)}\necho "done $((${done}))."\n`);
      return mine.says(`done ${done}.`);
    },
  };
}

t.test('the commands of the tutorial and of the guides behind it work as they stand there', { skip }, async (t) => {
  const { cwd, start, run } = await openGuides(t);
  let receiver: ReturnType<typeof start> | undefined;
  for (const block of blocksOf('docs/tutorial.md')) {
    if (block.startsWith('alias')) continue; // the same as here
    if (block.startsWith('lapel serve')) await start(block).says('"msg":"listening"');
    else if (block.startsWith('lapel-sim')) await start(block).says('connected');
    else if (block.startsWith('lapel webhook listen')) {
      receiver = start(block);
      await receiver.says('listening at');
    } else await run(block);
  }
  const shown = await receiver?.says(/setLanguage #3/);
  for (const words of [/transaction\.succeeded +490154203237518 +activate #1/, /setLanguage #2/]) t.match(shown, words);

  const outputOf = async (file: string): Promise<string> => {
    const before = (await run('true')).length;
    let output = '';
    for (const block of blocksOf(file)) output = await run(block);
    return output.slice(before);
  };
  const errors = await outputOf('docs/errors.md');
  for (const code of ['REQUEST_INVALID', 'TRANSACTION_NOT_FOUND', 'TOKEN_MISSING'])
    t.match(errors, new RegExp(`^lapel-error-code: ${code}`, 'im'));
  t.match(errors, 'exit code 1');

  const repeated = await outputOf('docs/idempotency.md');
  t.match(repeated, /^idempotency-replayed: true/im);
  const [, ...numbers] = repeated.split('"transactionId":').map((rest) => Number.parseInt(rest, 10));
  t.equal(numbers.length, 2);
  t.equal(numbers[0], numbers[1], 'both calls are answered with the same transaction');

  const pulled = await outputOf('docs/stream.md');
  t.match(pulled, /"type":"transaction\.succeeded"/);
  t.match(pulled, /"events":\[\],"next":\d+,"more":false/, 'behind the newest event there is none');
  t.match(await outputOf('docs/endpoints.md'), /"eventId":"msg_.*"type":"test".*"events":\d+,"replay":null/s);
  t.match(await outputOf('docs/paging.md'), /"deviceId":"490154203237518"/);
  t.match(await outputOf('docs/time-zones.md'), /lapel-time-zone: (\S+).*"x-time-zone":"\1"/is);
  t.match(await outputOf('docs/recovery.md'), /sent again: \d+.*"redelivered":\d+.*sent again: msg_/s);

  writeFileSync(join(cwd, 'camera-1.0.0.apk'), apkOf('1.0.0', 1));
  const applications = await outputOf('docs/application-developers.md');
  t.notMatch(applications, /"(reason|message)":"(?!device is already activated)/, 'no call is refused');
  t.match(applications, /com\.example\.camera/);

  writeFileSync(join(cwd, 'camera-1.1.0.apk'), apkOf('1.1.0', 2));
  await run('lapel app upload camera-1.1.0.apk');
  t.match(await outputOf('docs/rollouts.md'), /"rolloutId":"rol_/);

  writeFileSync(join(cwd, 'camera-1.2.0.apk'), apkOf('1.2.0', 3));
  const signing = await outputOf('docs/signing.md');
  t.notMatch(signing, /^lapel: /m, 'no command fails');
  const [, signature = 'none'] = /signature +(\S{86}==)/.exec(signing) ?? [];
  t.equal(signing.split(signature).length, 4, 'signed, shown, and made the same by OpenSSL');
  t.match(signing, /certificateChange +refuse/);

  const files = await outputOf('docs/configuration-files.md');
  t.match(files, /create +endpoint files-of-billing .*exit code 3.*created endpoint files-of-billing/s);
  t.match(files, /nothing to change; \d+ as the files say/);
  t.notMatch(files, /^lapel: /m, 'no command fails');
});

t.test(
  'the lines of Mosquitto in the document for devices work as they stand there',
  { skip: skip || withoutOpenssl || missing.mosquittoClients() },
  async (t) => {
    const { cwd, start, run } = await openGuides(t);
    const tls = join(cwd, 'tls');
    mkdirSync(tls);
    const { certFile, keyFile } = createAuthority(tls, 'site').sign('server');
    writeFileSync(join(cwd, 'keys'), keyLine('first'));
    const settings = `--tls-cert ${certFile} --tls-key ${keyFile} --mqtts-port 0 --device-certificates true`;
    await start(`lapel serve ${settings} --encryption-key-file keys`).says('"msg":"listening"');
    await run('lapel login --admin --token-stdin < data/admin-token\nlapel admin developer create acme --name Acme');
    let output = '';
    for (const block of blocksOf('docs/devices.md')) output = await run(block);
    t.match(output, /subject=CN = 490154203237534\s+notAfter=/, 'a device gets a certificate');
    t.match(output, /bad user name or password/, 'a wrong credential is refused');
    t.match(output, 'exit code 4');
    t.match(output, /"requestId":"r-[12]","error":\{"code":"NOT_ACTIVATED"/, 'a request is answered');
    t.match(output, /"topic":"devices\/490154203237518\/(status|acks)","reason":"/, 'a fault is reported');
  },
);
