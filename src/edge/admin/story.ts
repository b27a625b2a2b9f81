import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { deliveryRow } from '../../views/delivery-row.ts';
import type { StoryEntry } from '../../views/story.ts';
import { transactionRow } from '../../views/transaction-row.ts';
import { periodOf } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import { auditBody } from './audit.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At } from './services.ts';
import { type Shown, shownTo } from './shown.ts';

type Services = Pick<AdminServices, 'devices' | 'stories'>;

type Body = SchemaTypes['admin/story-entry'];

function entryBody(entry: StoryEntry, shown: Shown): Body {
  const { kind } = entry;
  const at = toUtc(entry.at);
  if (kind === 'command') return { at, kind, command: transactionRow(entry.command.record, entry.command.warning) };
  if (kind === 'event') return { at, kind, event: shown.deliveryRow(deliveryRow(entry.event)) };
  if (kind === 'change') return { at, kind, change: shown.auditEntry(auditBody(entry.change)) };
  if (kind === 'action') {
    const { actionId, action, state, code } = entry.action;
    return { at, kind, action: { actionId, action, state, code: code || null } };
  }
  const { count, lastAt, reason, detail, since, address, transport, nodeId } = entry.fact;
  const facts = { count, reason, detail, address, transport, node: nodeId };
  return { at, kind, connection: { ...facts, lastAt: toUtc(lastAt), since: utcOrNull(since) } };
}

/** Reads the story of a device, newest first. */
export async function readDeviceStory(
  { devices, stories }: Services,
  input: At<'deviceId', never, 'admin/story-query'>,
): Promise<Answer> {
  const { deviceId } = input.params;
  await devices.find(deviceId);
  const { after, limit } = input.query;
  const { entries, next } = await stories.read(deviceId, {
    limit,
    ...periodOf(input.query),
    ...(after !== undefined && { after }),
  });
  const headers = next === undefined ? {} : nextPageAfter(input, input.query, { after: next });
  return {
    status: 200,
    headers,
    body: {
      entries: entries.map((entry) => entryBody(entry, shownTo(input.caller))),
    } satisfies SchemaTypes['admin/device-story'],
  };
}
