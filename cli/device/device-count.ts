import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { render } from '../show/look.ts';
import { type Column, recordText, table } from '../show/table.ts';
import { DEVICES_OPTIONS, readSelector } from './selector-options.ts';

type Version = Operations['countDevices']['answer']['firmwareVersions'][number];

const columnsOf = (head: string, none: string): readonly Column<Version>[] => [
  { head, cell: ({ version }) => version ?? none },
  { head: 'DEVICES', cell: ({ devices }) => devices },
];

export const deviceCount: Command = {
  name: 'device count',
  summary: 'Counts the devices that match, by their connection, firmware and version of a package',
  about: 'The count is exact up to 10,000 devices of the application, and an estimate above.',
  options: {
    ...DEVICES_OPTIONS,
    'versions-of': { value: 'NAME', text: 'the package whose versions are counted; by default that of --package' },
    ...APPLICATION_OPTIONS,
  },
  examples: [
    'lapel device count',
    'lapel device count --tag site=osaka --connected',
    "lapel device count --tag ring=canary --package com.example.camera --version-range '>=1.1.0'",
    'lapel device count --json | jq .matching',
  ],
  async run(given, terminal) {
    const devices = readSelector(given);
    const versionsOf = given.text('versions-of');
    const application = await openApplication(given, terminal);
    const count = await application.call('count the devices', (lapel) =>
      lapel.countDevices({ body: { devices, ...(versionsOf !== undefined && { versionsOf }) } }),
    );
    const { matching, connected, estimate, versions = [], firmwareVersions } = count;
    const about = estimate ? 'about ' : '';
    const tables = [
      ...(firmwareVersions.length > 0 ? [table(columnsOf('FIRMWARE', 'not reported'), firmwareVersions, '')] : []),
      ...(versions.length > 0
        ? [table(columnsOf(versionsOf ?? devices.package ?? '', 'not installed'), versions, '')]
        : []),
    ];
    return {
      json: { ok: true, ...count },
      text: (look) =>
        [recordText({ matching: `${about}${matching}`, connected: `${about}${connected}` }), ...tables]
          .map((text) => render(text, look))
          .join('\n'),
    };
  },
};
