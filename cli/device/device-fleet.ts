import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { render } from '../show/look.ts';
import { recordText, table } from '../show/table.ts';

interface Group {
  value: string | null;
  devices: number;
}

const groups = (head: string, rows: readonly Group[]) =>
  table<Group>(
    [
      { head, cell: ({ value }) => value ?? 'not reported' },
      { head: 'DEVICES', cell: ({ devices }) => devices },
    ],
    rows,
    '',
  );

export const deviceFleet: Command = {
  name: 'device fleet',
  summary: 'Summarizes the fleet: connection, firmware, battery, packages, commands',
  about:
    'The activated devices of the application. Their numbers are exact up to 10,000 devices, and an estimate above. The commands that failed are those of the last 24 hours.',
  options: APPLICATION_OPTIONS,
  examples: ['lapel device fleet', 'lapel device fleet --json | jq .commands'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const fleet = await application.call('summarize the fleet', (lapel) => lapel.readFleet());
    const { devices, estimate, commands, firmwareVersions, battery, packages } = fleet;
    const about = estimate ? 'about ' : '';
    const tables = [
      groups(
        'FIRMWARE',
        firmwareVersions.map(({ version, ...own }) => ({ value: version, ...own })),
      ),
      groups(
        'BATTERY %',
        battery.map(({ level, ...own }) => ({ value: level, ...own })),
      ),
      ...packages.map(({ package: name, versions }) =>
        groups(
          name,
          versions.map(({ version, ...own }) => ({ value: version, ...own })),
        ),
      ),
    ];
    return {
      json: { ok: true, ...fleet },
      text: (look) =>
        [
          recordText({
            activated: `${about}${devices.activated}`,
            connected: `${about}${devices.connected}`,
            waiting: commands.waiting,
            failed: commands.failed,
          }),
          ...(devices.activated > 0 ? tables : []),
        ]
          .map((text) => render(text, look))
          .join('\n'),
    };
  },
};
