import { APPLICATION_OPTIONS, openApplication } from './application-client.ts';
import type { Command } from './command.ts';
import { namePositionals, readArguments } from './command-line.ts';
import { fetchAll } from './pages.ts';
import { table } from './table.ts';

const OPTIONS = {
  ...APPLICATION_OPTIONS,
  package: { value: 'NAME', text: 'this package only' },
  latest: { text: 'the newest version of each package only' },
} as const;

interface Row {
  package: string;
  displayName: string | null;
  version: string;
  description: string | null;
  distributable: boolean;
  updateDate: string;
  /** Whose it is: the developer's, or part of what the service distributes by default. */
  kind: string;
}

const COLUMNS = [
  { head: 'PACKAGE', cell: (row: Row) => row.package },
  { head: 'VERSION', cell: (row: Row) => row.version },
  { head: 'OF', cell: (row: Row) => row.kind },
  { head: 'DISTRIBUTED', cell: (row: Row) => (row.distributable ? 'yes' : 'no') },
  { head: 'UPDATED', cell: (row: Row) => row.updateDate.slice(0, 19).replace('T', ' ') },
  { head: 'DESCRIPTION', cell: (row: Row) => row.description ?? row.displayName ?? '' },
];

/** Op 24. */
export const appList: Command = {
  name: 'app list',
  usage: '--application ID [options]',
  summary: 'The software that an application can distribute and install',
  options: OPTIONS,
  examples: [
    'lapel app list --application patrol',
    'lapel app list --application patrol --package com.example.camera --latest',
  ],
  async run(args, terminal) {
    const given = readArguments(args, OPTIONS);
    namePositionals(given.positionals, []);
    const { request, base } = openApplication(given, terminal, ['svc:application:read']);
    const mode = given.flag('latest') ? 'latest' : undefined;
    const query = { package: given.text('package'), mode };
    const what = 'list the software';
    const { rows: own, first } = await fetchAll(request, `${base}/apps`, { what, list: 'userPackages', query });
    const system = first.systemPackages as Row[];
    const rows = [
      ...(own as Row[]).map((row) => ({ ...row, kind: 'developer' })),
      ...system.map((row) => ({ ...row, kind: 'service' })),
    ];
    return {
      json: { ok: true, userPackages: own, systemPackages: system, total: own.length },
      text: table(COLUMNS, rows, 'There is no software yet: lapel app upload FILE.apk'),
    };
  },
};
