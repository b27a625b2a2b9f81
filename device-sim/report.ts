import type { LoadCounts } from './customer/load.ts';
import type { FleetCounts } from './fleet/fleet.ts';
import { plainText } from './plain-text.ts';

/** All that a run ends with; with --json this object is standard output. */
export interface Report {
  seed: number;
  seconds: number;
  fleet: FleetCounts;
  /** Devices that were given up at the start: the run failed for them. */
  neverConnected: number;
  /** Devices that were activated when the load began; null without --application. */
  activated: number | null;
  load: LoadCounts | null;
  troubles: string[];
  /** More troubles than were kept. */
  troublesNotShown: number;
}

const perSecond = (count: number, seconds: number): string => (seconds > 0 ? (count / seconds).toFixed(1) : '-');

/** The closing table for people. */
export function formatReport({ fleet, load, activated, seconds, troubles, troublesNotShown }: Report): string {
  const rows: [string, number | string, string?][] = [
    [
      'devices',
      fleet.devices,
      `${fleet.connected} connected at the end${activated === null ? '' : `, ${activated} activated`}`,
    ],
    ['connections', fleet.connections, `${fleet.losses} lost, ${fleet.connectFailures} given up`],
    [
      'commands',
      fleet.commands,
      `${fleet.repetitions} repeated, ${fleet.cancels} cancels, ${fleet.ignored} ignored; ${perSecond(fleet.commands, seconds)}/s`,
    ],
    [
      'answers',
      fleet.answers,
      `${fleet.failures} failures, ${fleet.repeatedAnswers} remembered; ${perSecond(fleet.answers, seconds)}/s`,
    ],
    ['acknowledged', fleet.acknowledged, `${fleet.outstanding} outstanding`],
  ];
  if (fleet.downloads > 0) {
    const mebibytes = (fleet.downloadedBytes / 1024 ** 2).toFixed(1);
    const ways = `${fleet.resumed} resumed, ${fleet.renewed} fresh URLs`;
    rows.push(['downloads', fleet.downloads, `${mebibytes} MiB, ${ways}`]);
  }
  if (fleet.events + fleet.eventsLost > 0) {
    rows.push(['events', fleet.events, `${fleet.calls} calls; ${fleet.eventsLost} lost, for want of room`]);
  }
  if (fleet.uploads + fleet.uploadFailures + fleet.unwanted > 0) {
    const mebibytes = (fleet.uploadedBytes / 1024 ** 2).toFixed(1);
    const ends = `${fleet.uploadRetries} tried again, ${fleet.uploadFailures} failed, ${fleet.unwanted} not wanted`;
    rows.push(['uploads', fleet.uploads, `${mebibytes} MiB; ${ends}`]);
  }
  rows.push(
    ['complaints', fleet.complaints, 'of the service about messages'],
    ['violations', fleet.violations, 'of the contract by the service'],
  );
  if (load) {
    const refusals = Object.entries(load.refusals).map(([status, count]) => `${count} x ${status}`);
    rows.push(
      [
        'requests',
        load.requests,
        `${load.accepted} accepted; refused: ${refusals.join(', ') || 'none'}; ${load.skipped} skipped`,
      ],
      ['to device', `${load.toDevice.p50.toFixed(1)} ms`, `median; 99 % within ${load.toDevice.p99.toFixed(1)} ms`],
    );
  }
  rows.push(['time', `${seconds.toFixed(1)} s`]);
  const width = Math.max(...rows.map(([, value]) => String(value).length));
  const lines = rows.map(([name, value, note = '']) =>
    `  ${name.padEnd(13)} ${String(value).padStart(width)}  ${note}`.trimEnd(),
  );
  if (troubles.length > 0) lines.push('', ...troubles.map((text) => `  ! ${plainText(text)}`));
  if (troublesNotShown > 0) lines.push(`  ! and ${troublesNotShown} more`);
  return `${lines.join('\n')}\n`;
}
