import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { readPage, showRows } from '../pages.ts';
import { momentOf, seen, time } from '../times.ts';
import { CURSOR, DEVICE, SINCE, TEXT, tool, UNTIL } from '../tool.ts';
import { entryLine } from '../tools/changes.ts';
import { commandLine } from '../tools/command-words.ts';

type Story = SchemaTypes['admin/device-story']['entries'][number];

export const search = tool<{ text: string }>({
  name: 'search',
  title: 'Find something by its identifier or name',
  description:
    'Find a developer, customer, application, package, device, command or webhook by a part of its name or its identifier.',
  properties: { text: TEXT('A part of the name or of the identifier.', 255) },
  required: ['text'],
  async run(session, { text }, report) {
    const { results } = await session.ask<SchemaTypes['admin/search-results']>('search', { query: { q: text } });
    report.say(`${results.length} found:`);
    for (const { kind, id, parent } of results) {
      report.row(`- ${kind} ${data(id, 128)}${parent === null ? '' : ` of ${data(parent, 128)}`}`);
    }
  },
});

const fieldWords = ({ name, value }: SchemaTypes['admin/device-status']['fields'][number]): string =>
  `${name} ${data(JSON.stringify(value), 80)}`;

function storyLine(entry: Story): string {
  const { at, kind, connection, command, event, change } = entry;
  const when = `- ${time(at)} ${kind}`;
  if (connection) {
    const times = connection.count > 1 ? ` ${connection.count} times until ${time(connection.lastAt)}` : '';
    return `${when}${times}: ${connection.reason ?? 'no reason'}, ${data(connection.detail, 120)}, from ${data(connection.address, 45)}`;
  }
  if (command) return `${when}: ${commandLine(command)}`;
  if (event)
    return `${when}: ${data(event.type, 60)} to ${event.setting}, ${event.status}, delivery ${event.deliveryId}`;
  if (change) return `${when}: ${data(change.sentence, 200)}`;
  return `${when}: ${data(JSON.stringify(entry.action), 160)}`;
}

export const device = tool<{ deviceId: string; since?: string; cursor?: string }>({
  name: 'device',
  title: 'Look at one device',
  description:
    'Look at one device of any customer: owner, activation, connection, address, last seen, battery, firmware, blocked or not, tags, and its story: connections, refusals, commands, events and changes, the newest first.',
  properties: { deviceId: DEVICE, since: SINCE, cursor: CURSOR },
  required: ['deviceId'],
  async run(session, { deviceId, since, cursor }, report) {
    const params = { deviceId };
    if (cursor === undefined) {
      const own = await session.ask<SchemaTypes['admin/device']>('readDevice', { params });
      const status = await session.ask<SchemaTypes['admin/device-status']>('readFleetDeviceStatus', { params });
      const link = await session.ask<SchemaTypes['admin/device-connection']>('readConnection', { params });
      report.say(
        `Device ${deviceId} of the developer ${own.developerId}: ${own.activation}${own.applicationId ? ` for ${own.applicationId}` : ''}, ${own.blocked ? 'blocked: it cannot connect' : 'not blocked'}, registered ${time(own.createdAt, session.zone)}.`,
        `It reported ${time(status.reportedAt)}: ${status.fields.slice(0, 12).map(fieldWords).join(', ') || 'nothing yet'}.`,
        link.connected
          ? `Connected since ${time(link.since)} from ${data(link.address, 45)} by ${link.transport ?? 'unknown'}.`
          : `Not connected; ${seen(link.lastSeenAt)}.`,
        link.withoutCommandsSince !== null && `It hears no commands since ${time(link.withoutCommandsSince)}.`,
        `Console: ${session.link('devices', deviceId)}`,
        'Its story, the newest first:',
      );
    }
    const query = { since: momentOf(since, session.now()), limit: 25 };
    const page = await readPage<Story>(session, 'readDeviceStory', { list: 'entries', cursor, params, query });
    showRows(report, page, storyLine);
  },
});

type Entry = SchemaTypes['admin/audit-list']['entries'][number];

export const changes = tool<{ since?: string; until?: string; about?: string; cursor?: string }>({
  name: 'changes',
  title: 'What changed, and who did it?',
  description:
    'What changed, when, and who did it? The audit log of the service, the newest first: people, customers, applications, devices, keys, rollouts, what assistants did for whom, and refused requests.',
  properties: {
    since: SINCE,
    until: UNTIL,
    about: TEXT(
      'Only about this object: its kind, a colon, and its identifier, such as application:patrol or device:350000000000016.',
      200,
    ),
    cursor: CURSOR,
  },
  async run(session, { since, until, about, cursor }, report) {
    const query = {
      about,
      since: momentOf(since, session.now()),
      until: momentOf(until, session.now(), 'until'),
      limit: 25,
    };
    const page = await readPage<Entry>(session, 'listAudit', { list: 'entries', cursor, query });
    if (page.rows.length === 0) report.say('No change is recorded in this time.');
    showRows(report, page, entryLine);
  },
});
