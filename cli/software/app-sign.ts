import { signVersion } from '@lapel/schemas/base/software-key';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { readText } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import { recordText } from '../show/table.ts';
import { identify, openLocalFile } from './local-file.ts';
import { digestOf, privateKeyOf } from './sign-file.ts';

/** Signs a file as a version, and stores the signature at the service. */
export const appSign: Command = {
  name: 'app sign',
  arguments: [{ name: 'FILE.apk', file: true }],
  summary: 'Signs an APK file as a version, so that devices can prove where it comes from',
  about: `Signs package, version and SHA-256 of the file with a private key of ed25519. The version must be registered; its file may
be uploaded before or afterwards. The key stays here. With --no-upload nothing is sent: sign on a machine of its own, and store
what is printed with PUT .../versions/VERSION/signature.`,
  options: {
    ...APPLICATION_OPTIONS,
    key: { value: 'FILE.pem', text: 'the private key, in PEM; - reads standard input' },
    package: { value: 'NAME', text: 'the package; by default the one in the file' },
    version: { value: 'V', text: 'the version; by default the one in the file' },
    'no-upload': { text: 'print the signature only; no service is asked' },
  },
  examples: [
    'lapel app sign camera-1.1.0.apk --key release.pem',
    'lapel app sign camera.apk --key release.pem --version 1.2.0-rc.1 --no-upload --json',
  ],
  async run(given, terminal) {
    const [path = ''] = given.positionals;
    const keyPath = given.text('key');
    if (keyPath === undefined) throw new UsageError('--key', 'is needed');
    // The key comes from a file, never from the command line, which other users of the machine can read.
    const key = privateKeyOf(await readText('--key', keyPath, terminal), '--key', keyPath);
    await using file = await openLocalFile(path);
    const named = { package: given.text('package'), version: given.text('version') };
    const manifest = named.package === undefined || named.version === undefined ? await identify(file) : null;
    const name = named.package ?? manifest?.package;
    const version = named.version ?? manifest?.versionName ?? undefined;
    if (name === undefined) throw new UsageError('--package', `is needed: ${file.name} does not contain it`);
    if (version === undefined) throw new UsageError('--version', `is needed: ${file.name} does not contain it`);
    const names = { package: name, version };
    const signed = signVersion(key, names, await digestOf(file));
    if (given.flag('no-upload'))
      return { json: { ok: true, ...names, ...signed }, text: recordText({ ...names, ...signed }) };
    const application = await openApplication(given, terminal);
    const what = `store the signature of ${name} ${version}`;
    const stored = await application.call(what, (lapel) => lapel.putSignature({ ...names, body: signed }));
    return { json: { ok: true, ...names, ...stored }, text: recordText({ ...names, ...stored }) };
  },
};
