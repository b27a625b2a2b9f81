import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { render } from '../show/look.ts';
import { type Column, table, timeText } from '../show/table.ts';

interface Key {
  keyId: string;
  name: string;
  createdAt: string;
}

const COLUMNS: readonly Column<Key>[] = [
  { head: 'KEY', cell: (row) => row.keyId },
  { head: 'ADDED', cell: (row) => timeText(row.createdAt) },
  { head: 'NAME', cell: (row) => row.name, flexible: true },
];

/** Lists the keys with which the developer signs versions, and the rules. Only administration changes them. */
export const appKeys: Command = {
  name: 'app keys',
  summary: 'Lists the keys with which versions are signed, and says whether a signature is required',
  options: APPLICATION_OPTIONS,
  examples: ['lapel app keys', 'lapel app keys --json | jq .softwareSignatures'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const trust = await application.call('read the software keys', (lapel) => lapel.readSoftwareTrust());
    const rules = `Signatures are ${trust.softwareSignatures}; another certificate in an APK: ${trust.certificateChange}.\n`;
    const keys = table(COLUMNS, trust.keys, 'There are no keys.');
    return { json: { ok: true, ...trust }, text: (look) => `${render(keys, look)}${rules}` };
  },
};
