import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { type Column, table, timeText } from '../show/table.ts';

const OPTIONS = {
  ...APPLICATION_OPTIONS,
  package: { value: 'NAME', text: 'only this package' },
  latest: { text: 'only the newest version of each package' },
} as const;

/** A version with its owner: the developer, or the service. */
type Row = Operations['listAvailable']['answer']['userPackages'][number] & { kind: string };

const COLUMNS: readonly Column<Row>[] = [
  { head: 'PACKAGE', cell: (row) => row.package },
  { head: 'VERSION', cell: (row) => row.version },
  { head: 'OF', cell: (row) => row.kind },
  { head: 'DISTRIBUTED', cell: (row) => (row.distributable ? 'yes' : 'no'), state: true },
  { head: 'UPDATED', cell: (row) => timeText(row.updateDate) },
  { head: 'DESCRIPTION', cell: (row) => row.description ?? row.displayName ?? '', flexible: true },
];

/** Lists the software that can be installed (op 24). */
export const appList: Command = {
  name: 'app list',
  summary: 'Lists the software that an application can distribute and install',
  options: OPTIONS,
  examples: ['lapel app list', 'lapel app list --application patrol --package com.example.camera --latest'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const name = given.text('package');
    const query = { ...(name !== undefined && { package: name }), ...(given.flag('latest') && { mode: 'latest' }) };
    const { own, system } = await application.call('list the software', async (lapel) => ({
      own: await take(lapel.each('listAvailable', { query })),
      // The system packages are read with one small page: they are few, and the same on every page.
      system: (await lapel.listAvailable({ query: { ...query, limit: 1 } as object })).systemPackages,
    }));
    const rows = [
      ...own.map((row) => ({ ...row, kind: 'developer' })),
      ...system.map((row) => ({ ...row, kind: 'service' })),
    ];
    return {
      json: { ok: true, userPackages: own, systemPackages: system, total: own.length },
      text: table(COLUMNS, rows, 'There is no software yet; upload some with lapel app upload FILE.apk'),
    };
  },
};
